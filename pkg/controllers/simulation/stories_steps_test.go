package simulation

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// step is a part of a story: somebody does something, or time passes.
type step func(*stage)

// passes lets some time pass.
func passes(d time.Duration) step { return func(s *stage) { s.play(d) } }

// kind is a Deployment "web" of v1, and what is to be said about it.
type kind struct {
	replicas int32
	text     string
	changes  []func(*appsv1.Deployment)
}

func web(replicas int32, text string, changes ...func(*appsv1.Deployment)) kind {
	return kind{replicas, text, changes}
}

func (k kind) String() string {
	return fmt.Sprintf("Deployment web: %s of v1; %s", some(k.replicas), k.text)
}

// creates lets the user create a Deployment.
func creates(k kind) step {
	return func(s *stage) {
		d := newDeployment("web", "v1", k.replicas)
		for _, change := range k.changes {
			change(d)
		}
		_, _ = create(s.server, &s.server.deployments, &s.user, d)
		s.tale.tells("user", "creates "+k.String())
	}
}

// given is a Deployment that has been complete for a minute when the story begins.
func given(k kind) step {
	return func(s *stage) {
		creates(k)(s)
		s.play(time.Minute)
		begins(k.String() + "; complete")(s)
	}
}

// begins lets the story begin here. What came before is not told.
func begins(text string) step {
	return func(s *stage) {
		s.tale.lines, s.tale.state, s.tale.from = nil, "", s.clock.elapsed
		s.tale.tells("given", text)
	}
}

// edits is a change of the Deployment.
func edits(text string, change func(*appsv1.Deployment)) step {
	return func(s *stage) {
		edit(func(d *appsv1.Deployment, _, _ int) { change(d) })(s.World, s.deployment(), 0, 0)
		s.tale.tells("user", text)
	}
}

// sets is a change of the image.
func sets(image string) step {
	return edits("sets the image to "+image, func(d *appsv1.Deployment) { d.Spec.Template = template("web", image) })
}

// scales is a change of the number of Pods.
func scales(replicas int) step {
	return edits(fmt.Sprintf("scales web to %d", replicas), func(d *appsv1.Deployment) { d.Spec.Replicas = number(replicas) })
}

func pauses() step {
	return edits("pauses web", func(d *appsv1.Deployment) { d.Spec.Paused = true })
}

func resumes() step {
	return edits("resumes web", func(d *appsv1.Deployment) { d.Spec.Paused = false })
}

// within returns a rolling update with fenceposts such as "1" and "25%".
func within(surge, unavailable string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		s, u := intstr.Parse(surge), intstr.Parse(unavailable)
		d.Spec.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u},
		}
	}
}

func recreate(d *appsv1.Deployment) {
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
}

func deadline(seconds int) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = number(seconds) }
}

// undoes is what "kubectl rollout undo" does: the template of a revision becomes the
// Deployment's again.
func undoes(image string) step {
	return func(s *stage) {
		edits("undoes: the template of web-"+image+" again", func(d *appsv1.Deployment) {
			d.Spec.Template = *s.named(image).Spec.Template.DeepCopy()
			delete(d.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		})(s)
	}
}

// podNamed returns the Pod that a tale calls so.
func (s *stage) podNamed(name string) *corev1.Pod {
	for _, pod := range s.server.pods.rows {
		if s.tale.names.plain(pod.Name) == name {
			return pod
		}
	}
	s.lost("there is no Pod %s at this point of the story", name)
	return nil
}

// becomes is something that befalls a Pod.
func becomes(pod, text string, change func(*stage, *corev1.Pod)) step {
	return func(s *stage) {
		change(s, s.podNamed(pod))
		s.tale.tells("kubelet", pod+" "+text)
	}
}

func unready(s *stage, pod *corev1.Pod) {
	s.setReady(pod, corev1.ConditionFalse)
	s.since[pod.UID] = s.clock.elapsed
}

func evicted(s *stage, pod *corev1.Pod) { s.end(pod, corev1.PodFailed, "Evicted") }

// relabels lets the user change the label of a Pod by which it is selected.
func relabels(pod string) step {
	return func(s *stage) {
		s.writePod(s.podNamed(pod), func(p *corev1.Pod) { p.Labels = relabeled(p.Labels) })
		s.tale.tells("user", fmt.Sprintf("takes the label app=web from %s", pod))
	}
}

// drops takes the finalizers from the Pods that are being deleted.
func drops() step {
	return func(s *stage) {
		for _, pod := range s.server.pods.rows {
			if pod.DeletionTimestamp != nil {
				s.changePod(pod, func(p *corev1.Pod) { p.Finalizers = nil })
			}
		}
		s.tale.tells("user", "takes the finalizer from the Pods that are stopping")
	}
}

// deletes lets the user delete the Deployment.
func deletes(how string, policy metav1.DeletionPropagation) step {
	return func(s *stage) {
		_ = remove(s.server, &s.server.deployments, &s.user, "web", metav1.Preconditions{}, policy)
		s.tale.tells("user", "deletes Deployment web, "+how)
	}
}

// quota lets an administrator bound how many Pods there may be; 0 for any number.
func quota(pods int, text string) step {
	return func(s *stage) {
		s.server.quota = pods
		s.tale.tells("admin", text)
	}
}

// meets lets a request soon to be made meet a fault.
func meets(f fault, skip int) step {
	return func(s *stage) { s.trouble = ahead{what: int(f), skip: skip} }
}

// leads lets another process take over.
func leads() step {
	return func(s *stage) {
		s.start(0)
		s.tale.tells("process", fmt.Sprintf("process %d leads, and knows what the API server has", s.processes))
	}
}

// arrives lets a request arrive that its sender has given up on.
func arrives() step {
	return func(s *stage) {
		before := s.server.version
		s.land(0)
		if s.server.version == before {
			s.tale.does("the API server refuses it")
		}
		s.tale.synced("network")
	}
}
