package localcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// lab is a cluster and a client of it.
type lab struct {
	*Cluster
	client kubernetes.Interface
}

// startLabs starts clusters at the same time, which end with the test.
func startLabs(t *testing.T, options ...Options) []lab {
	t.Helper()
	if _, err := Build(t.Context(), t.Logf); err != nil {
		t.Fatal(err)
	}
	ctx, labs := patient(t), make([]lab, len(options))
	var group errgroup.Group
	for i, o := range options {
		o.Dir, o.Log = t.TempDir(), t.Logf
		group.Go(func() error {
			var err error
			labs[i].Cluster, err = Start(ctx, o)
			return err
		})
	}
	err := group.Wait()
	for i := range labs {
		if cluster := labs[i].Cluster; cluster != nil {
			t.Cleanup(func() {
				if err := cluster.Stop(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range labs {
		if labs[i].client, err = kubernetes.NewForConfig(labs[i].AdminConfig()); err != nil {
			t.Fatal(err)
		}
	}
	return labs
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, probe func(context.Context) error) {
	t.Helper()
	if err := waitFor(patient(t), what, probe); err != nil {
		t.Fatal(err)
	}
}

// newPod has two containers, unlike most pods elsewhere.
func newPod(name, mode string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "one", Image: "image"},
			{Name: "two", Image: "image"},
		}},
	}
	if mode != "" {
		pod.Labels[ModeLabel] = mode
	}
	return pod
}

func (l lab) createPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if _, err := l.client.CoreV1().Pods(metav1.NamespaceDefault).Create(patient(t), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (l lab) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	return l.client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
}

// podReady is a probe: the Pod is Running and Ready, and so is each container.
func (l lab) podReady(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		pod, err := l.pod(ctx, name)
		if err != nil {
			return err
		}
		ready := 0
		for _, container := range pod.Status.ContainerStatuses {
			if container.Ready {
				ready++
			}
		}
		isReady := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if pod.Status.Phase != corev1.PodRunning || !isReady || ready != len(pod.Spec.Containers) || pod.Status.PodIP == "" {
			return fmt.Errorf("phase %s, Ready %t, %d containers ready, address %q", pod.Status.Phase, isReady, ready, pod.Status.PodIP)
		}
		return nil
	}
}

func (l lab) podGone(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := l.pod(ctx, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(fmt.Errorf("pod %s is still there", name), err)
	}
}

func (l lab) deletePod(t *testing.T, name string) {
	t.Helper()
	if err := l.client.CoreV1().Pods(metav1.NamespaceDefault).Delete(patient(t), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestSideBySide starts two clusters at a time and tries out what they are for.
func TestSideBySide(t *testing.T) {
	labs := startLabs(t, Options{}, Options{BuiltinLoops: true, Nodes: 2})
	ours, builtin := labs[0], labs[1]

	t.Run("each has its nodes", func(t *testing.T) { testNodes(t, ours, 10); testNodes(t, builtin, 2) })
	t.Run("each has the loops that were asked for", func(t *testing.T) { testLoops(t, ours, builtin) })
	t.Run("pods do as their mode says", func(t *testing.T) { testModes(t, ours) })
	t.Run("an image that cannot be pulled keeps a pod from running", func(t *testing.T) { testImages(t, ours) })
	t.Run("a finalizer holds a deleted pod", func(t *testing.T) { testFinalizer(t, ours) })
	t.Run("our user may do nothing by itself", func(t *testing.T) { testRights(t, ours) })
	t.Run("the audit log counts requests", func(t *testing.T) { testAudit(t, ours) })
	t.Run("a frozen API server does not answer until it is thawed", func(t *testing.T) { testFreeze(t, ours) })
	t.Run("etcd keeps its data when it is killed", func(t *testing.T) { testKillEtcd(t, ours) })
	t.Run("a stopped scheduler assigns nothing until it is started again", func(t *testing.T) { testStopScheduler(t, ours) })
	t.Run("no component has died", func(t *testing.T) { wantNoDeath(t, ours.Cluster); wantNoDeath(t, builtin.Cluster) })
}

func testNodes(t *testing.T, l lab, want int) {
	t.Helper()
	nodes, err := l.client.CoreV1().Nodes().List(patient(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != want {
		t.Errorf("there are %d nodes, want %d", len(nodes.Items), want)
	}
	for _, node := range nodes.Items {
		if !nodeIsReady(node) || len(node.Spec.Taints) > 0 {
			t.Errorf("node %s takes no pods: conditions %v, taints %v", node.Name, node.Status.Conditions, node.Spec.Taints)
		}
		if got := node.Status.Allocatable.Pods().Value(); got != 10000 {
			t.Errorf("node %s has room for %d pods, want 10000", node.Name, got)
		}
		if node.Labels[corev1.LabelHostname] != node.Name {
			t.Errorf("node %s has the labels %v", node.Name, node.Labels)
		}
	}
}

func testModes(t *testing.T, l lab) {
	never := newPod("never", ModeNever)
	l.createPod(t, never)
	l.createPod(t, newPod("fail", ModeFail))
	l.createPod(t, newPod("slow", ModeSlow))
	l.createPod(t, newPod("plain", ""))

	eventually(t, "the plain pod", l.podReady("plain"))
	eventually(t, "the failing pod", func(ctx context.Context) error {
		pod, err := l.pod(ctx, "fail")
		if err == nil && pod.Status.Phase != corev1.PodFailed {
			err = fmt.Errorf("phase %s", pod.Status.Phase)
		}
		return err
	})
	eventually(t, "the slow pod", l.podReady("slow"))
	slow, err := l.pod(t.Context(), "slow")
	if err != nil {
		t.Fatal(err)
	}
	// The stamps are cut to whole seconds.
	if took := slow.Status.StartTime.Sub(slow.CreationTimestamp.Time).Seconds(); took < 2 {
		t.Errorf("the slow pod was ready after %v s, want 3", took)
	}
	// It was created first, so it had its chance.
	got, err := l.pod(t.Context(), "never")
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.NodeName == "" || got.Status.Phase != corev1.PodPending {
		t.Errorf("the pod that never gets ready is on node %q in phase %s, want Pending on some node", got.Spec.NodeName, got.Status.Phase)
	}
}

func testFinalizer(t *testing.T, l lab) {
	held := newPod("held", "")
	held.Finalizers = []string{"lab.example/hold"}
	l.createPod(t, held)
	l.createPod(t, newPod("free", ""))
	eventually(t, "the held pod", l.podReady("held"))
	eventually(t, "the free pod", l.podReady("free"))

	l.deletePod(t, "held")
	l.deletePod(t, "free")
	eventually(t, "the free pod to go", l.podGone("free"))
	if pod, err := l.pod(t.Context(), "held"); err != nil || pod.DeletionTimestamp == nil {
		t.Errorf("the held pod is %v, error %v; want it there and being deleted", pod, err)
	}
	_, err := l.client.CoreV1().Pods(metav1.NamespaceDefault).Patch(patient(t), "held",
		types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the held pod to go", l.podGone("held"))
}
