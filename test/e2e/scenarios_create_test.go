package e2e

import (
	"math"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// createScenarios are about what comes of a new Deployment.
func createScenarios() []scenario {
	return []scenario{
		{name: "create", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 3, lab.Annotated("team", "blue")))
			s.Complete("web")
		}},
		{name: "create-of-size-0", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 0))
			s.Complete("web")
		}},
		{name: "create-paused", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 3, isPaused(true)))
			s.UntilCondition("web", "Progressing", paused)
		}},
		{name: "create-paused-and-resume", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, isPaused(true)))
			s.UntilCondition("web", "Progressing", paused)
			s.Kubectl("rollout", "resume", "deployment/web")
			s.Complete("web")
		}},
		{name: "create-with-min-ready-seconds", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.MinReady(1)))
			s.Complete("web")
		}},
		{name: "create-without-a-deadline", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, lab.Deadline(math.MaxInt32)))
			s.UntilEach("web:1=1")
		}},
		{name: "create-never-ready", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Mode(localcluster.ModeNever)))
			s.UntilEach("web:1=2")
		}},
		{name: "create-whose-name-is-taken", steps: func(s *space) {
			s.CreateReplicaSet(bareReplicaSet(lab.WebReplicaSet, 0, "other"))
			s.UntilReplicaSet(lab.WebReplicaSet, 0)
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
		}},
		{name: "create-with-a-long-name", steps: func(s *space) {
			name := strings.Repeat("n", 253)
			s.Create(lab.NewDeployment("web", 2, func(d *appsv1.Deployment) { d.Name = name }))
			s.Complete(name)
		}},
		{name: "create-two-side-by-side", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			s.Create(lab.NewDeployment("shop", 2))
			s.Complete("web")
			s.Complete("shop")
		}},
		{name: "create-by-kubectl-apply", steps: func(s *space) { s.applyTwice() }},
		{name: "create-by-server-side-apply", steps: func(s *space) { s.applyTwice("--server-side") }},
	}
}

func isPaused(paused bool) lab.Edit {
	return func(d *appsv1.Deployment) { d.Spec.Paused = paused }
}

// applyTwice creates a Deployment as kubectl apply does, and then changes its image.
func (s *space) applyTwice(flags ...string) {
	s.T.Helper()
	for _, image := range []string{"web:1", "web:2"} {
		d := lab.NewDeployment("web", 1, lab.Annotated("team", "blue"))
		d.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
		d.Spec.Template.Spec.Containers[0].Image = image
		s.apply(lab.Encode(s.T, d), flags...)
		s.Complete("web")
	}
}

// templateScenarios are about templates that have more than a container.
func templateScenarios() []scenario {
	return []scenario{
		{name: "template-with-much-in-it", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, richTemplate))
			s.Complete("web")
		}},
		{name: "template-with-more-labels-than-the-selector", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, func(d *appsv1.Deployment) {
				d.Spec.Selector = &metav1.LabelSelector{
					MatchLabels:      map[string]string{"app": "web"},
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"front", "back"}}},
				}
				d.Spec.Template.Labels["tier"] = "front"
				d.Spec.Template.Labels["more"] = "x"
			}))
			s.Complete("web")
			s.Edit("web", func(d *appsv1.Deployment) { d.Spec.Template.Labels["tier"] = "back" })
			s.Complete("web")
		}},
		{name: "template-with-only-an-annotation-changed", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			s.Complete("web")
			// As kubectl rollout restart does, at a time that is always the same.
			s.Edit("web", func(d *appsv1.Deployment) {
				d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2030-01-01T00:00:00Z"}
			})
			s.Complete("web")
		}},
	}
}

// richTemplate fills in much of what a template may hold.
func richTemplate(d *appsv1.Deployment) {
	template := &d.Spec.Template
	template.Annotations = map[string]string{"note": "ä ö ü — 你好", "empty": ""}
	template.Finalizers = []string{lab.Hold}
	web := &template.Spec.Containers[0]
	web.Command, web.Args = []string{"serve"}, []string{"--port=80", ""}
	web.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
	web.Env = []corev1.EnvVar{
		{Name: "PLAIN", Value: "x"},
		{Name: "FIELD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	}
	web.VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: filepath.Join("/", "scratch")}}
	web.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	always := corev1.ContainerRestartPolicyAlways
	template.Spec.InitContainers = []corev1.Container{{Name: "side", Image: "side:1", RestartPolicy: &always}, {Name: "first", Image: "first:1"}}
	template.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000)), RunAsNonRoot: new(true)}
	template.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
	template.Spec.TerminationGracePeriodSeconds = new(int64(5))
}
