package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webHash is the hash that kube-controller-manager 1.37.2 gives the template of
// newDeployment("web", ...), with the defaults of that API server.
const webHash = "57d9664db9"

// webReplicaSet is the name of that Deployment's first ReplicaSet.
const webReplicaSet = "web-" + webHash

func TestCreateMakesAReplicaSetAndItsPods(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	created := s.create(newDeployment("web", 3, annotated("team", "blue"), minReady(1)))
	s.complete("web")
	st := s.untilEvents("Deployment",
		"deployment-controller Normal ScalingReplicaSet: Scaled up replica set "+webReplicaSet+" from 0 to 3")

	if len(st.replicaSets.now) != 1 || st.replicaSets.now[webReplicaSet] == nil {
		t.Fatalf("the ReplicaSets are %v, want only %s", st.replicaSets.present(), webReplicaSet)
	}
	rs := st.replicaSets.now[webReplicaSet]
	wantReplicaSet(t, rs, created)
	pods := st.podsOf(rs)
	if len(pods) != 3 || len(st.pods.now) != 3 {
		t.Fatalf("%d of %d Pods are the ReplicaSet's, want 3 of 3", len(pods), len(st.pods.now))
	}
	for _, pod := range pods {
		wantPod(t, pod, rs)
		s.untilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulCreate: Created pod: "+pod.Name)
	}
	s.wantPodCreates(3)
}

// wantReplicaSet compares all that the Deployment loop decides about a ReplicaSet.
func wantReplicaSet(t *testing.T, rs *appsv1.ReplicaSet, d *appsv1.Deployment) {
	t.Helper()
	labels := map[string]string{"app": "web", "pod-template-hash": webHash}
	template := *d.Spec.Template.DeepCopy()
	template.Labels = labels
	want := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:   webReplicaSet,
			Labels: labels,
			Annotations: map[string]string{
				revisionAnnotation:                          "1",
				"deployment.kubernetes.io/desired-replicas": "3",
				"deployment.kubernetes.io/max-replicas":     "4",
				"team":                                      "blue",
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        new(int32(3)),
			MinReadySeconds: 1,
			Selector:        &metav1.LabelSelector{MatchLabels: labels},
			Template:        template,
		},
		Status: appsv1.ReplicaSetStatus{
			Replicas: 3, FullyLabeledReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			TerminatingReplicas: new(int32(0)), ObservedGeneration: 1,
		},
	}
	if diff := cmp.Diff(want, rs, byServer()); diff != "" {
		t.Errorf("ReplicaSet (-want +got):\n%s", diff)
	}
}

// wantPod compares the part of a Pod that the ReplicaSet loop decides about.
func wantPod(t *testing.T, pod *corev1.Pod, rs *appsv1.ReplicaSet) {
	t.Helper()
	want := metav1.ObjectMeta{
		Name:            pod.Name,
		GenerateName:    webReplicaSet + "-",
		Labels:          rs.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
	}
	if diff := cmp.Diff(want, pod.ObjectMeta, byServer()); diff != "" {
		t.Errorf("Pod (-want +got):\n%s", diff)
	}
	if len(pod.Name) != len(pod.GenerateName)+5 || pod.Name[:len(pod.GenerateName)] != pod.GenerateName {
		t.Errorf("Pod %s is not called %s and five characters", pod.Name, pod.GenerateName)
	}
}

// byServer leaves out what the API server decides.
func byServer() cmp.Option {
	return cmpopts.IgnoreFields(metav1.ObjectMeta{}, "UID", "ResourceVersion", "Generation", "CreationTimestamp", "Namespace", "ManagedFields")
}

func TestCreateReportsInTheStatus(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	d := s.complete("web").deployments.now["web"]

	want := appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
		TerminatingReplicas: new(int32(0)),
		Conditions: []appsv1.DeploymentCondition{
			{Type: "Available", Status: "True", Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
			{Type: "Progressing", Status: "True", Reason: "NewReplicaSetAvailable", Message: `ReplicaSet "` + webReplicaSet + `" has successfully progressed.`},
		},
	}
	byType := cmpopts.SortSlices(func(a, b appsv1.DeploymentCondition) bool { return a.Type < b.Type })
	times := cmpopts.IgnoreFields(appsv1.DeploymentCondition{}, "LastUpdateTime", "LastTransitionTime")
	if diff := cmp.Diff(want, d.Status, byType, times); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got := revisionOf(d); got != 1 {
		t.Errorf("the Deployment's revision is %d, want 1", got)
	}
	s.wantConditionSeen("web", "Progressing", "True NewReplicaSetCreated", `Created new replica set "`+webReplicaSet+`"`)
	s.wantConditionSeen("web", "Available", "False MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
}

func TestCreateWithoutReplicasMakesAnEmptyReplicaSet(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 0))
	st := s.complete("web")
	if rs := st.replicaSets.now[webReplicaSet]; rs == nil || *rs.Spec.Replicas != 0 {
		t.Errorf("the ReplicaSets are %v, want %s of size 0", st.replicaSets.present(), webReplicaSet)
	}
	if d := st.deployments.now["web"]; wrongCondition(d, "Available", "True MinimumReplicasAvailable") != "" {
		t.Errorf("the conditions are %v, want it available", d.Status.Conditions)
	}
	s.wantPodCreates(0)
}
