package simulation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/informers/core"
	coreinformers "k8s.io/client-go/informers/core/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
)

// caches are those of one loop, in the shape in which the loops ask for them. What they do
// not ask for is missing: a call of it panics.
type caches struct {
	deployments *informer[*appsv1.Deployment]
	replicaSets *informer[*appsv1.ReplicaSet]
	pods        *informer[*corev1.Pod]
}

func newCaches(loop string, s *server) *caches {
	return &caches{
		deployments: &informer[*appsv1.Deployment]{loop: loop, table: &s.deployments},
		replicaSets: &informer[*appsv1.ReplicaSet]{loop: loop, table: &s.replicaSets},
		pods:        &informer[*corev1.Pod]{loop: loop, table: &s.pods},
	}
}

// readers returns those caches that the loop uses.
func (c *caches) readers() []reader {
	if c.deployments.handler == nil {
		return []reader{c.replicaSets, c.pods}
	}
	return []reader{c.deployments, c.replicaSets, c.pods}
}

// lag is how many changes of ReplicaSets and Pods have not been read.
func (c *caches) lag() int { return c.replicaSets.lag() + c.pods.lag() }

// factory returns the caches as a loop is given them.
func (c *caches) factory() informers.SharedInformerFactory { return factory{caches: c} }

type factory struct {
	informers.SharedInformerFactory
	caches *caches
}

func (f factory) Apps() apps.Interface { return appsGroup{caches: f.caches} }
func (f factory) Core() core.Interface { return coreGroup{caches: f.caches} }

type appsGroup struct {
	apps.Interface
	caches *caches
}

func (g appsGroup) V1() appsinformers.Interface { return appsVersion{caches: g.caches} }

type appsVersion struct {
	appsinformers.Interface
	caches *caches
}

func (v appsVersion) Deployments() appsinformers.TypedDeploymentInformer {
	return deploymentInformer{caches: v.caches}
}

func (v appsVersion) ReplicaSets() appsinformers.TypedReplicaSetInformer {
	return replicaSetInformer{caches: v.caches}
}

type deploymentInformer struct {
	appsinformers.TypedDeploymentInformer
	caches *caches
}

func (i deploymentInformer) Informer() cache.SharedIndexInformer { return i.caches.deployments }

func (i deploymentInformer) Lister() appslisters.DeploymentLister {
	return appslisters.NewDeploymentLister(i.caches.deployments.GetIndexer())
}

type replicaSetInformer struct {
	appsinformers.TypedReplicaSetInformer
	caches *caches
}

func (i replicaSetInformer) Informer() cache.SharedIndexInformer { return i.caches.replicaSets }

func (i replicaSetInformer) Lister() appslisters.ReplicaSetLister {
	return appslisters.NewReplicaSetLister(i.caches.replicaSets.GetIndexer())
}

type coreGroup struct {
	core.Interface
	caches *caches
}

func (g coreGroup) V1() coreinformers.Interface { return coreVersion{caches: g.caches} }

type coreVersion struct {
	coreinformers.Interface
	caches *caches
}

func (v coreVersion) Pods() coreinformers.TypedPodInformer { return podInformer{caches: v.caches} }

type podInformer struct {
	coreinformers.TypedPodInformer
	caches *caches
}

func (i podInformer) Informer() cache.SharedIndexInformer { return i.caches.pods }
