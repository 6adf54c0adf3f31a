package simulation

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/pkg/controllers/deployment/rollout"
)

var updateFlag = flag.Bool("update", false, "write the transcripts in testdata anew")

// TestGolden compares the transcripts of rollouts that people know with those in testdata. A
// change of behavior is to be seen there as a change of a story:
//
//	go test ./pkg/controllers/simulation -run TestGolden -update && git diff
func TestGolden(t *testing.T) {
	for name, tell := range tales() {
		t.Run(name, func(t *testing.T) {
			s := newTale(t)
			tell(s)
			s.finally()
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
			got := "# " + name + "\n" + s.text.String()
			if *updateFlag {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the story has changed (-written +told):\n%s", diff)
			}
		})
	}
}

func tales() map[string]func(*tale) {
	return map[string]func(*tale){
		"a first rollout": func(s *tale) { s.creates(3) },
		"ten replicas with the default strategy": func(s *tale) {
			s.creates(10)
			s.after(10)
			s.edits("a new image", runs("v2"))
		},
		"no surge": func(s *tale) {
			s.creates(3, posts("0", "1"))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"no Pod unavailable": func(s *tale) {
			s.creates(3, posts("1", "0"))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"all new ones beside all old ones": func(s *tale) {
			s.creates(4, posts("100%", "0"))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"all at once": func(s *tale) {
			s.creates(4, posts("0", "100%"))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"fenceposts that round to nothing": func(s *tale) {
			s.creates(3, posts("0%", "10%"))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"a broken image": func(s *tale) {
			s.creates(4)
			s.after(8)
			s.edits("a broken image", runs(brokenImage))
		},
		"a broken image is undone": func(s *tale) {
			s.creates(4)
			s.after(8)
			s.edits("a broken image", runs(brokenImage))
			s.after(5)
			s.edits("undone", runs("v1"))
		},
		"undone in the middle": func(s *tale) {
			s.creates(6)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(5)
			s.edits("undone", runs("v1"))
		},
		"larger in the middle": func(s *tale) {
			s.creates(10)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.edits("15 replicas", wants(15))
		},
		"smaller in the middle": func(s *tale) {
			s.creates(10)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.edits("5 replicas", wants(5))
		},
		"larger with a broken image": func(s *tale) {
			s.creates(10)
			s.after(8)
			s.edits("a broken image", runs(brokenImage))
			s.after(6)
			s.edits("15 replicas", wants(15))
		},
		"smaller in the middle without surge": func(s *tale) {
			s.creates(5, posts("0", "1"))
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(1)
			s.edits("4 replicas", wants(4))
		},
		"paused in the middle": func(s *tale) {
			s.creates(6)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(3)
			s.edits("paused", pauses(true))
			s.after(8)
			s.edits("resumed", pauses(false))
		},
		"edited while paused": func(s *tale) {
			s.creates(3)
			s.after(8)
			s.edits("paused", pauses(true))
			s.after(2)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.edits("another one", runs("v3"))
			s.after(2)
			s.edits("resumed", pauses(false))
		},
		"scaled while paused": func(s *tale) {
			s.creates(6)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(1)
			s.edits("paused", pauses(true))
			s.after(5)
			s.edits("12 replicas", wants(12))
			s.after(8)
			s.edits("resumed", pauses(false))
		},
		"Recreate": func(s *tale) {
			s.creates(3, recreates)
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"Recreate with Pods that take their time to stop": func(s *tale) {
			s.creates(3, recreates)
			s.after(8)
			s.hold = func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }
			s.edits("a new image", runs("v2"))
			s.after(30)
			s.hold = func(*corev1.Pod) bool { return false }
		},
		"Recreate and a new size in the middle": func(s *tale) {
			s.creates(4)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.edits("Recreate, and 2 replicas", func(d *appsv1.Deployment) { recreates(d); wants(2)(d) })
		},
		"three images in a row": func(s *tale) {
			s.creates(5)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.edits("another one", runs("v3"))
		},
		"Pods must be ready for ten seconds": func(s *tale) {
			s.creates(3, func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 10 })
			s.after(20)
			s.edits("a new image", runs("v2"))
		},
		"only one old revision is kept": func(s *tale) {
			s.creates(1, keeps(1))
			for _, image := range []string{"v2", "v3", "v4"} {
				s.after(12)
				s.edits("image "+image, runs(image))
			}
		},
		"no old revision is kept": func(s *tale) {
			s.creates(2, keeps(0))
			s.after(8)
			s.edits("a new image", runs("v2"))
		},
		"to nothing and back": func(s *tale) {
			s.creates(3)
			s.after(8)
			s.edits("0 replicas", wants(0))
			s.after(5)
			s.edits("a new image", runs("v2"))
			s.after(5)
			s.edits("3 replicas", wants(3))
		},
		"rolled back by annotation": func(s *tale) {
			s.creates(2)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(10)
			s.edits("asks for revision 1", rollsBack("1"))
		},
		"rolled back to what does not exist": func(s *tale) {
			s.creates(2)
			s.after(8)
			s.edits("asks for revision 7", rollsBack("7"))
		},
		"orphaned and adopted": func(s *tale) {
			s.creates(2)
			s.after(8)
			s.says("deletes the Deployment and leaves its Pods", func() {
				_ = remove(s.server, &s.server.deployments, &s.World.user, "web", metav1.Preconditions{}, metav1.DeletePropagationOrphan)
			})
			s.after(3)
			s.creates(3)
		},
		"the name is taken": func(s *tale) {
			s.creates(2)
			s.after(8)
			s.says("relabels the ReplicaSet", func() {
				rs := s.server.replicaSets.rows[0]
				stranger := shallow(rs)
				stranger.Labels = relabeled(rs.Labels)
				s.writeReplicaSet(rs, stranger)
			})
		},
		"no room for Pods for a while": func(s *tale) {
			s.creates(4)
			s.after(8)
			s.tell("fault", "the quota is 4 Pods")
			s.server.quota = 4
			s.edits("a new image", runs("v2"))
			s.after(15)
			s.tell("fault", "the quota is lifted")
			s.server.quota = 0
		},
		"Pods are lost in the middle": func(s *tale) {
			s.creates(6)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.says("a node goes, with three Pods", func() {
				for _, pod := range s.server.pods.rows[:3] {
					s.befall(pod, 8)
				}
			})
		},
		"another leader in the middle": func(s *tale) {
			s.creates(6)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(3)
			s.crash()
			s.after(3)
			s.handOver(1)
		},
		"deleted in the middle": func(s *tale) {
			s.creates(4)
			s.after(8)
			s.edits("a new image", runs("v2"))
			s.after(2)
			s.says("deletes it, Pods first", func() {
				_ = remove(s.server, &s.server.deployments, &s.World.user, "web", metav1.Preconditions{}, metav1.DeletePropagationForeground)
			})
		},
	}
}

func runs(image string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Template = template(d.Name, image) }
}

func wants(replicas int) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Replicas = number(replicas) }
}

func pauses(paused bool) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Paused = paused }
}

func keeps(old int) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = number(old) }
}

func recreates(d *appsv1.Deployment) {
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
}

func posts(surge, unavailable string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Strategy = rolling(intstr.Parse(surge), intstr.Parse(unavailable)) }
}

func rollsBack(revision string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Annotations = merged(d.Annotations, map[string]string{rollout.RollbackAnnotation: revision})
	}
}
