package node

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

// The Deployments of config/deployments.yaml: one that is rolled out, and one that is left alone.
const (
	web  = "web"
	idle = "idle"
)

// loopsOff is what an operator adds to the flag --controllers of kube-controller-manager, and
// loopsOn what is left of that afterwards.
const (
	loopsOff = ",-deployment-controller,-replicaset-controller"
	loopsOn  = ""
)

// builtin is the kube-controller-manager that runs now.
func (m *machine) builtin() *localcluster.Process {
	if m.restarts == 0 {
		return m.cluster.Component(localcluster.ControllerManager)
	}
	return m.cluster.Component(fmt.Sprintf("%s-%d", localcluster.ControllerManager, m.restarts))
}

// restartBuiltin starts kube-controller-manager with more, or less, behind --controllers=*.
func (s *scene) restartBuiltin(ctx context.Context, controllers string) error {
	old := s.builtin()
	if err := old.Stop(); err != nil {
		return err
	}
	command := old.Command()
	s.restarts++
	command.Name = fmt.Sprintf("%s-%d", localcluster.ControllerManager, s.restarts)
	for i, arg := range command.Args {
		if strings.HasPrefix(arg, "--controllers=") {
			command.Args[i] = "--controllers=*" + controllers
		}
	}
	return s.launch(ctx, command)
}

// loopsAre is an error unless kube-controller-manager runs with so much behind --controllers=*.
func (s *scene) loopsAre(controllers string) error {
	args, err := process{s.builtin().PID()}.args()
	if err != nil {
		return err
	}
	want := "--controllers=*" + controllers
	if !slices.Contains(args, want) {
		return fmt.Errorf("%s does not run with %s: %s", localcluster.ControllerManager, want, args)
	}
	s.note("%s runs with %s", localcluster.ControllerManager, want)
	return nil
}

// settled waits until a Deployment is rolled out, its old Pods are gone, and its status says so:
// then nobody has a reason to write anything.
func (s *scene) settled(deployment string) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, err := s.kubectl(ctx, "rollout", "status", "deployment/"+deployment); err != nil {
			return err
		}
		return s.await(ctx, "the old Pods of "+deployment+" to be gone", func(ctx context.Context) error {
			d, err := s.client.AppsV1().Deployments(metav1.NamespaceDefault).Get(ctx, deployment, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("reading Deployment %s: %w", deployment, err)
			}
			if terminating := d.Status.TerminatingReplicas; terminating == nil || *terminating > 0 || d.Status.Replicas != *d.Spec.Replicas {
				return fmt.Errorf("the status is %+v", d.Status)
			}
			pods, err := s.podsOf(ctx, deployment)
			if err == nil && len(pods) != int(*d.Spec.Replicas) {
				err = fmt.Errorf("there are %d Pods", len(pods))
			}
			return err
		})
	}
}

// rollOut gives web its other image, and waits until containers of that run on the node, and
// no others.
func (s *scene) rollOut(ctx context.Context) error {
	image := pauseImage
	if s.rollouts%2 == 0 {
		image = otherPauseImage
	}
	s.rollouts++
	if _, err := s.kubectl(ctx, "set", "image", "deployment/"+web, "pause="+image); err != nil {
		return err
	}
	if err := s.settled(web)(ctx); err != nil {
		return err
	}
	pods, err := s.podsOf(ctx, web)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != nodeName || pod.Spec.Containers[0].Image != image || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s has the image %s and is %s on %s", pod.Name, pod.Spec.Containers[0].Image, pod.Status.Phase, pod.Spec.NodeName)
		}
	}
	_, err = s.kubectl(ctx, "get", "replicasets,pods", "-l", "app="+web, "-o", "wide")
	return err
}

func (m *machine) podsOf(ctx context.Context, deployment string) ([]corev1.Pod, error) {
	list, err := m.client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
	if err != nil {
		return nil, fmt.Errorf("listing the Pods of Deployment %s: %w", deployment, err)
	}
	return list.Items, nil
}

// versionsOf is the resourceVersion of a Deployment and of each of its ReplicaSets.
func (m *machine) versionsOf(ctx context.Context, deployment string) (map[string]string, error) {
	d, err := m.client.AppsV1().Deployments(metav1.NamespaceDefault).Get(ctx, deployment, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", deployment, err)
	}
	list, err := m.client.AppsV1().ReplicaSets(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
	if err != nil {
		return nil, fmt.Errorf("listing the ReplicaSets of Deployment %s: %w", deployment, err)
	}
	versions := map[string]string{d.Name: d.ResourceVersion}
	for _, set := range list.Items {
		versions[set.Name] = set.ResourceVersion
	}
	return versions, nil
}

// untouched is an error if idle or its ReplicaSets have been written since the work changed hands.
func (s *scene) untouched(ctx context.Context) error {
	now, err := s.versionsOf(ctx, idle)
	if err != nil {
		return err
	}
	s.note("Deployment and ReplicaSets that nobody has changed, by resourceVersion: %v, and before %v", now, s.before)
	if len(now) != 3 || !maps.Equal(now, s.before) {
		return fmt.Errorf("the Deployment %s and two ReplicaSets of it should have been left alone", idle)
	}
	return nil
}
