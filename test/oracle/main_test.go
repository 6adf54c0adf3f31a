package oracle

import (
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// The built-in loops log what they cannot do with an odd ReplicaSet, and that nobody takes
// their events any more; neither is news here.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	utilruntime.ErrorHandlers = nil // one of them sleeps, and a sync that sleeps looks as if it were over
	os.Exit(m.Run())
}
