package localcluster

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func testImages(t *testing.T, l lab) {
	pulled := map[string]string{
		"another-tag":       "web:4040",
		"another-domain":    "registry.invalid.example/web:1",
		"no-registry":       "web.invalid",
		"a-path":            "registry.example/web.invalid/web:1",
		"a-port-in-a-name":  "registry.example:404/web",
		"a-digest-with-404": "web@sha256:4040404040404040404040404040404040404040404040404040404040404040",
	}
	refused := map[string]string{
		"the-tag":           "web:404",
		"a-path-and-tag":    "registry.example/team/web:404",
		"the-domain":        "registry.invalid/web:1",
		"a-port":            "registry.invalid:5000/team/web",
		"the-tag-of-a-port": "registry.example:5000/web:404",
	}
	for name, image := range refused {
		pod := newPod(name, "")
		pod.Spec.Containers[1].Image = image
		l.createPod(t, pod)
	}
	initial := newPod("in-an-init-container", "")
	initial.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "web:404"}}
	l.createPod(t, initial)
	for name, image := range pulled {
		pod := newPod(name, "")
		pod.Spec.Containers[1].Image = image
		l.createPod(t, pod)
	}
	for name := range pulled {
		eventually(t, "the pod "+name, l.podReady(name))
	}
	for name := range refused {
		eventually(t, "the pod "+name, l.podWithoutImage(name))
	}
	eventually(t, "the pod "+initial.Name, l.podWithoutImage(initial.Name))

	_, err := l.client.CoreV1().Pods(metav1.NamespaceDefault).Patch(patient(t), "the-tag", types.StrategicMergePatchType,
		[]byte(`{"spec":{"containers":[{"name":"two","image":"web:1"}]}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod whose image was changed", l.podReady("the-tag"))
}

// podWithoutImage is a probe: the Pod is on a node, Pending and not Ready, and each
// container waits for its image.
func (l lab) podWithoutImage(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		pod, err := l.pod(ctx, name)
		if err != nil {
			return err
		}
		waiting := 0
		for _, container := range pod.Status.ContainerStatuses {
			if wait := container.State.Waiting; wait != nil && wait.Reason == "ImagePullBackOff" && !container.Ready {
				waiting++
			}
		}
		notReady := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
		})
		if pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName == "" || !notReady || waiting != len(pod.Spec.Containers) {
			return fmt.Errorf("phase %s on node %q, Ready=False %t, %d containers wait", pod.Status.Phase, pod.Spec.NodeName, notReady, waiting)
		}
		return nil
	}
}
