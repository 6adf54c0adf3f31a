// Command specs is the part of Kubernetes' own end-to-end tests that is about
// Deployments and ReplicaSets, as a program: all specs of its package for apps,
// with the flags of its test framework and of Ginkgo. Command conformance runs it.
//
// Kubernetes' own main package for these tests holds the specs of every other
// subject as well, and takes as long to build as a control plane.
package main

import (
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	_ "k8s.io/kubernetes/test/e2e/apps" // the specs
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
)

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := ginkgo.GinkgoConfiguration()
	if !ginkgo.RunSpecs(told{}, "Kubernetes' specs for apps", suite, reporter) {
		os.Exit(1)
	}
}

// told takes the place of a *testing.T: that a spec failed is told by the answer
// of RunSpecs too.
type told struct{}

func (told) Fail() {}
