package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"controller-manager/localcluster"
)

const (
	// webDeployment is the sample that is described, webReplicas its size.
	webDeployment = "web"
	webReplicas   = 3
	// webSelector finds its ReplicaSet and pods.
	webSelector = "app=" + webDeployment
	// eventTimeout is how long to wait for events, which come after the fact.
	eventTimeout = 10 * time.Second
)

// describe shows the chain from the Deployment over its ReplicaSet to a Pod, with
// the events of all that had a part in it.
func (d demo) describe(ctx context.Context) error {
	pods, err := d.cluster.Kubectl(ctx, "get", "pods", "--selector", webSelector, "--output", "name")
	if err != nil {
		return err
	}
	pod, _, _ := strings.Cut(pods, "\n")
	if err := d.waitForEvents(ctx, strings.TrimPrefix(pod, "pod/")); err != nil {
		return err
	}
	shown := [][]string{
		{"describe", "deployment/" + webDeployment},
		{"describe", "replicaset", "--selector", webSelector},
		{"describe", pod},
		{"get", "deployments,replicasets,pods"},
	}
	for _, args := range shown {
		output, err := d.cluster.Kubectl(ctx, args...)
		if err != nil {
			return err
		}
		d.log("\n$ kubectl %s\n%s", strings.Join(args, " "), strings.TrimSpace(output))
	}
	return nil
}

// waitForEvents waits until each part of the chain has told what it did. Events
// may be dropped, so their absence is no error.
func (d demo) waitForEvents(ctx context.Context, pod string) error {
	client, err := kubernetes.NewForConfig(d.cluster.AdminConfig())
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	told := func(ctx context.Context) (bool, error) {
		events, err := client.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, fmt.Errorf("listing events: %w", err)
		}
		return chainIsTold(events.Items, pod), nil
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, eventTimeout, true, told)
	if wait.Interrupted(err) && ctx.Err() == nil {
		d.log("some events are missing after %s", eventTimeout)
		return nil
	}
	return err
}

// chainIsTold looks for: Deployment scaled up, pods created, one of them assigned.
func chainIsTold(events []corev1.Event, pod string) bool {
	var scaled, created, assigned int
	for _, event := range events {
		switch object := event.InvolvedObject; {
		case event.Reason == "ScalingReplicaSet" && object.Name == webDeployment:
			scaled++
		case event.Reason == "SuccessfulCreate" && strings.HasPrefix(object.Name, webDeployment+"-"):
			created++
		case event.Reason == "Scheduled" && object.Name == pod:
			assigned++
		}
	}
	return scaled >= 1 && created >= webReplicas && assigned >= 1
}

// suggest tells what to try next.
func (d demo) suggest() {
	kubectl := d.project.kubectl()
	d.log(`
The cluster is up. In another terminal:

  export KUBECONFIG=%[2]s
  %[1]s get deployments,replicasets,pods
  %[1]s scale deployment/%[3]s --replicas=5
  %[1]s set image deployment/%[3]s %[3]s=nginx:1.30
  %[1]s rollout status deployment/%[3]s
  %[1]s rollout history deployment/%[3]s
  %[1]s rollout undo deployment/%[3]s
  %[1]s delete pod --selector %[4]s

Ctrl-C stops everything and leaves nothing behind. The log of the controller-manager:
`, kubectl, d.cluster.KubeconfigPath(localcluster.AdminUser), webDeployment, webSelector)
}
