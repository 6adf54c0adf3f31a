package app

import (
	"bytes"
	"flag"
	"runtime"
	"strings"
	"testing"

	"k8s.io/client-go/features"
)

func TestVersionIsSaidAndNothingElseDone(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"--version", "--secure-port=-1"}, &stdout, &stderr)
	if code != exitOK || stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q on standard error, want %d and nothing", code, stderr.String(), exitOK)
	}
	isOneLine(t, stdout.String(), "controller-manager ", "commit", runtime.Version())
}

func TestHelpListsTheFlagsAndEndsWell(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), []string{"--help"}, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q on standard error, want %d and nothing", code, stderr.String(), exitOK)
	}
	NewOptions().Flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(stdout.String(), "--"+f.Name) {
			t.Errorf("--%s is not in the help", f.Name)
		}
	})
}

type gates bool

func (g gates) Enabled(feature features.Feature) bool {
	return bool(g) || feature != features.AtomicFIFO
}

func TestWithoutTheAgeOfItsCachesNothingStarts(t *testing.T) {
	if err := checkFeatures(gates(true)); err != nil {
		t.Errorf("got %v with the feature on", err)
	}
	err := checkFeatures(gates(false))
	if err == nil {
		t.Fatal("got no error with the feature off")
	}
	isOneLine(t, oneLine(err)+"\n", "KUBE_FEATURE_AtomicFIFO")
}
