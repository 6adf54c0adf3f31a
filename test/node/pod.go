package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	// ours is the name of the shipped static pod, and mirror that of its Pod in the cluster.
	ours   = "controller-manager"
	mirror = ours + "-" + nodeName
)

// shipped is the manifest of the static pod, as a text and as an object.
func (m *machine) shipped() (text string, pod corev1.Pod, err error) {
	path := filepath.Join(m.options.Deploy, "static-pod", ours+".yaml")
	manifest, err := readFile(path)
	if err != nil {
		return "", pod, err
	}
	if err := yaml.UnmarshalStrict([]byte(manifest), &pod); err != nil {
		return "", pod, fmt.Errorf("reading %s: %w", path, err)
	}
	return manifest, pod, nil
}

// putManifest puts a static pod into the kubelet's folder, whole: first beside the folder.
func (s *scene) putManifest(name, text string) error {
	beside := "/etc/kubernetes/changed.yaml"
	if err := place([]byte(text), beside, 0o600); err != nil {
		return err
	}
	if err := os.Rename(beside, filepath.Join(manifests, name+".yaml")); err != nil {
		return fmt.Errorf("putting a manifest into its place: %w", err)
	}
	s.note("put %s.yaml into %s, %d bytes", name, manifests, len(text))
	return nil
}

// startPod puts a manifest into the kubelet's folder and waits until its Pod is ready.
func (s *scene) startPod(ctx context.Context, name, text string) error {
	if err := s.putManifest(name, text); err != nil {
		return err
	}
	return s.awaitPod(ctx, name+"-"+nodeName, restarted(0))
}

// removeManifest takes a static pod away and waits until its Pod is gone.
func (s *scene) removeManifest(ctx context.Context, name string) error {
	if err := os.Remove(filepath.Join(manifests, name+".yaml")); err != nil {
		return fmt.Errorf("removing a manifest: %w", err)
	}
	s.note("removed %s.yaml from %s", name, manifests)
	return s.gone(name + "-" + nodeName)(ctx)
}

// gone waits until the Pod of a static pod is no more.
func (s *scene) gone(pod string) func(context.Context) error {
	return func(ctx context.Context) error {
		return s.await(ctx, "Pod "+pod+" to be gone", func(ctx context.Context) error {
			_, err := s.client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, pod, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, errors.New("it is there"))
		})
	}
}

// awaitPod waits until a static pod runs, has passed its startup probe, is ready, and is as wanted.
func (s *scene) awaitPod(ctx context.Context, pod string, unwanted func(*corev1.Pod) error) error {
	err := s.await(ctx, "Pod "+pod+" to be as wanted, and ready", func(ctx context.Context) error {
		got, err := s.pod(ctx, pod)
		if err != nil {
			return err
		}
		if status := got.Status.ContainerStatuses; got.Status.Phase != corev1.PodRunning || len(status) != 1 ||
			status[0].State.Running == nil || status[0].Started == nil || !*status[0].Started || !status[0].Ready {
			return fmt.Errorf("it is %s%s", got.Status.Phase, waitsFor(got))
		}
		return unwanted(got)
	})
	if err != nil {
		return err
	}
	_, err = s.kubectl(ctx, "-n", "kube-system", "get", "pod", pod, "-o", "wide")
	return err
}

// waitsFor is why a container does not run, with a space before it, "" if it does.
func waitsFor(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return fmt.Sprintf(" (%s %s)", waiting.Reason, waiting.Message)
		}
	}
	return ""
}

func (m *machine) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod, err := m.client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Pod %s: %w", name, err)
	}
	return pod, nil
}

// restarted says what is missing for a container to have been started again so often.
func restarted(times int32) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if got := pod.Status.ContainerStatuses[0].RestartCount; got != times {
			return fmt.Errorf("it has been restarted %d times, not %d", got, times)
		}
		return nil
	}
}

// process is the process of a static pod, found by way of containerd.
func (s *scene) process(ctx context.Context, name string) (process, error) {
	pod, err := s.pod(ctx, name)
	if err != nil {
		return process{}, err
	}
	id := strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "containerd://")
	tasks, err := s.runCtr(ctx, "tasks", "list")
	if err != nil {
		return process{}, err
	}
	for line := range strings.Lines(tasks) {
		if fields := strings.Fields(line); fields[0] == id {
			pid, err := strconv.Atoi(fields[1])
			if err != nil {
				return process{}, fmt.Errorf("reading containerd's list of tasks: %w", err)
			}
			return process{pid}, nil
		}
	}
	return process{}, fmt.Errorf("containerd has no task of container %s", id)
}

// awaitLeader waits until the process of a static pod holds the lease, by its own words too.
func (s *scene) awaitLeader(ctx context.Context, pod string) error {
	var said string
	err := s.await(ctx, "Pod "+pod+" to lead", func(ctx context.Context) error {
		lease, err := s.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, ours, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the lease: %w", err)
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return errors.New("nobody holds the lease")
		}
		log, err := s.log(ctx, pod)
		if err != nil {
			return err
		}
		for line := range strings.Lines(log) {
			if strings.Contains(line, "Became the leader") && strings.Contains(line, *lease.Spec.HolderIdentity) {
				said = line
				return nil
			}
		}
		return fmt.Errorf("the lease is held by %s", *lease.Spec.HolderIdentity)
	})
	s.transcript.WriteString(said)
	return err
}

// log is what the container of a static pod has said since its latest start.
func (m *machine) log(ctx context.Context, pod string) (string, error) {
	return m.cluster.Kubectl(ctx, "-n", "kube-system", "logs", pod)
}
