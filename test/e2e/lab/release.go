package lab

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster/proxy"
)

// ReleaseAndShrink makes a ReplicaSet of so many Pods, takes some of them away from it while the
// watch of Pods stands still, and shrinks it by so many. It returns how many of those live
// on once all has settled. PR kubernetes#138818.
func (s *Space) ReleaseAndShrink(watch *proxy.Gate, size, released int) (alive int, st *Story) {
	s.T.Helper()
	s.CreateReplicaSet(NewReplicaSet("web", int32(size)))
	pods := s.UntilReplicaSet("web", int32(size)).Pods.Present()[:released]
	for _, pod := range pods {
		// They would be the first to go.
		s.PatchPod(pod.Name, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}}}`)
	}
	s.UntilWritten() // by then that has been seen
	watch.Shut()
	defer watch.Open()
	for _, pod := range pods {
		s.PatchPod(pod.Name, `{"metadata":{"labels":{"app":null},"ownerReferences":null}}`)
	}
	s.Kubectl("scale", "replicaset/web", fmt.Sprintf("--replicas=%d", size-released))
	s.Poll("so many Pods to be tried", func(context.Context) string {
		deleted, refused := len(s.PodDeletes(http.StatusOK)), len(s.PodDeletes(http.StatusConflict))
		if deleted+refused < released {
			return fmt.Sprintf("%d are deleted and %d were refused", deleted, refused)
		}
		return ""
	})
	watch.Open()
	st = s.UntilReplicaSet("web", int32(size-released))
	for _, pod := range pods {
		if now := st.Pods.Now[pod.Name]; now != nil && now.DeletionTimestamp == nil && metav1.GetControllerOf(now) == nil {
			alive++
		}
	}
	return alive, st
}
