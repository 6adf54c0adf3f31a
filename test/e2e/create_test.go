package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

func TestCreateMakesAReplicaSetAndItsPods(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	created := s.Create(lab.NewDeployment("web", 3, lab.Annotated("team", "blue"), lab.MinReady(1)))
	s.Complete("web")
	st := s.UntilEvents("Deployment",
		"deployment-controller Normal ScalingReplicaSet: Scaled up replica set "+lab.WebReplicaSet+" from 0 to 3")

	if len(st.ReplicaSets.Now) != 1 || st.ReplicaSets.Now[lab.WebReplicaSet] == nil {
		t.Fatalf("the ReplicaSets are %v, want only %s", st.ReplicaSets.Present(), lab.WebReplicaSet)
	}
	rs := st.ReplicaSets.Now[lab.WebReplicaSet]
	wantReplicaSet(t, rs, created)
	pods := st.PodsOf(rs)
	if len(pods) != 3 || len(st.Pods.Now) != 3 {
		t.Fatalf("%d of %d Pods are the ReplicaSet's, want 3 of 3", len(pods), len(st.Pods.Now))
	}
	for _, pod := range pods {
		wantPod(t, pod, rs)
		s.UntilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulCreate: Created pod: "+pod.Name)
	}
	s.WantPodCreates(3)
}

// wantReplicaSet compares all that the Deployment loop decides about a ReplicaSet.
func wantReplicaSet(t *testing.T, rs *appsv1.ReplicaSet, d *appsv1.Deployment) {
	t.Helper()
	labels := map[string]string{"app": "web", "pod-template-hash": lab.WebHash}
	template := *d.Spec.Template.DeepCopy()
	template.Labels = labels
	want := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:   lab.WebReplicaSet,
			Labels: labels,
			Annotations: map[string]string{
				lab.RevisionAnnotation:                      "1",
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
		GenerateName:    lab.WebReplicaSet + "-",
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
	s.Create(lab.NewDeployment("web", 3))
	d := s.Complete("web").Deployments.Now["web"]

	want := appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
		TerminatingReplicas: new(int32(0)),
		Conditions: []appsv1.DeploymentCondition{
			{Type: "Available", Status: "True", Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
			{Type: "Progressing", Status: "True", Reason: "NewReplicaSetAvailable", Message: `ReplicaSet "` + lab.WebReplicaSet + `" has successfully progressed.`},
		},
	}
	byType := cmpopts.SortSlices(func(a, b appsv1.DeploymentCondition) bool { return a.Type < b.Type })
	times := cmpopts.IgnoreFields(appsv1.DeploymentCondition{}, "LastUpdateTime", "LastTransitionTime")
	if diff := cmp.Diff(want, d.Status, byType, times); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got := lab.RevisionOf(d); got != 1 {
		t.Errorf("the Deployment's revision is %d, want 1", got)
	}
	s.WantConditionSeen("web", "Progressing", "True NewReplicaSetCreated", `Created new replica set "`+lab.WebReplicaSet+`"`)
	s.WantConditionSeen("web", "Available", "False MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
}

func TestCreateWithoutReplicasMakesAnEmptyReplicaSet(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 0))
	st := s.Complete("web")
	if rs := st.ReplicaSets.Now[lab.WebReplicaSet]; rs == nil || *rs.Spec.Replicas != 0 {
		t.Errorf("the ReplicaSets are %v, want %s of size 0", st.ReplicaSets.Present(), lab.WebReplicaSet)
	}
	if d := st.Deployments.Now["web"]; lab.WrongCondition(d, "Available", "True MinimumReplicasAvailable") != "" {
		t.Errorf("the conditions are %v, want it available", d.Status.Conditions)
	}
	s.WantPodCreates(0)
}
