package e2e

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// web is a feature of the first container.
func web(fill func(*corev1.Container)) feature {
	return func(t *corev1.PodTemplateSpec) { fill(&t.Spec.Containers[0]) }
}

// initially is a feature of an init container.
func initially(name string, fill func(*corev1.Container)) feature {
	return func(t *corev1.PodTemplateSpec) {
		for _, container := range t.Spec.InitContainers {
			if container.Name == name {
				return
			}
		}
		container := corev1.Container{Name: name, Image: name + ":1"}
		fill(&container)
		t.Spec.InitContainers = append(t.Spec.InitContainers, container)
	}
}

// quantities are resources in pairs of name and quantity.
func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func placementFeatures() map[string]feature {
	spec := func(fill func(*corev1.PodSpec)) feature {
		return func(t *corev1.PodTemplateSpec) { fill(&t.Spec) }
	}
	selector := &metav1.LabelSelector{
		MatchLabels:      map[string]string{"a": "b"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "c", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"d", "e"}}},
	}
	term := corev1.PodAffinityTerm{LabelSelector: selector, TopologyKey: "zone", Namespaces: []string{"x"}, NamespaceSelector: &metav1.LabelSelector{}}
	nodes := corev1.NodeSelectorTerm{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "size", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}}},
		MatchFields:      []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n"}}},
	}
	return map[string]feature{
		"node-affinity": spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{nodes}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 7, Preference: nodes}},
			}}
		}),
		"pod-affinity": spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		}),
		"pod-anti-affinity": spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}},
			}}
		}),
		"match-label-keys": spec(func(s *corev1.PodSpec) {
			keyed := term
			keyed.MatchLabelKeys = []string{"pod-template-hash"}
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{keyed}}}
		}),
		"spread": spec(func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
				{MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: new(int32(2)), LabelSelector: selector,
					NodeAffinityPolicy: new(corev1.NodeInclusionPolicyHonor), NodeTaintsPolicy: new(corev1.NodeInclusionPolicyIgnore), MatchLabelKeys: []string{"pod-template-hash"}},
			}
		}),
		"tolerations": spec(func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{
				{Operator: corev1.TolerationOpExists},
				{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(0))},
				{Key: "k", Operator: corev1.TolerationOpEqual, Effect: corev1.TaintEffectNoSchedule},
			}
		}),
	}
}

func containerFeatures() map[string]feature {
	always := corev1.ContainerRestartPolicyAlways
	return map[string]feature{
		"command":       web(func(c *corev1.Container) { c.Command, c.Args = []string{"sh", "-c"}, []string{"echo \"$(A)\"\n", ""} }),
		"long-argument": web(func(c *corev1.Container) { c.Args = []string{strings.Repeat("x", 10_000)} }),
		"working-dir":   web(func(c *corev1.Container) { c.WorkingDir = "/work" }),
		"image-digest":  web(func(c *corev1.Container) { c.Image = "r.example.com/a/b@sha256:" + strings.Repeat("0", 64) }),
		"image-latest":  web(func(c *corev1.Container) { c.Image = "web" }),
		"pull-never":    web(func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullNever }),
		"terminal":      web(func(c *corev1.Container) { c.Stdin, c.StdinOnce, c.TTY = true, true, true }),
		"termination": web(func(c *corev1.Container) {
			c.TerminationMessagePath, c.TerminationMessagePolicy = "/end", corev1.TerminationMessageFallbackToLogsOnError
		}),
		"ports": web(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {ContainerPort: 65535, Protocol: corev1.ProtocolSCTP}}
		}),
		"host-port": web(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080, HostIP: "127.0.0.1"}}
		}),
		"requests": web(func(c *corev1.Container) { c.Resources.Requests = quantities("cpu", "100m", "memory", "64Mi") }),
		"limits": web(func(c *corev1.Container) {
			c.Resources.Limits = quantities("cpu", "0.5", "memory", "1G", "ephemeral-storage", "2Gi")
		}),
		"quantities-in-other-words": web(func(c *corev1.Container) {
			c.Resources.Requests = quantities("cpu", "0.1", "memory", "67108864", "ephemeral-storage", "1e3")
		}),
		"extended-resources": web(func(c *corev1.Container) {
			c.Resources.Limits = quantities("example.com/gpu", "2", "hugepages-2Mi", "4Mi", "cpu", "1")
		}),
		"resize-policy": web(func(c *corev1.Container) {
			c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
		}),
		"lifecycle-exec": web(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"a"}}}}
		}),
		"lifecycle-http": web(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/stop", Port: intstr.FromString("http")}}}
		}),
		"lifecycle-sleep": web(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}}
		}),
		"init":      initially("first", func(*corev1.Container) {}),
		"init-full": initially("full", func(c *corev1.Container) { c.Command = []string{"a"}; c.Resources.Requests = quantities("cpu", "1") }),
		"sidecar":   initially("side", func(c *corev1.Container) { c.RestartPolicy = &always }),
		"sidecar-probed": initially("probed", func(c *corev1.Container) {
			c.RestartPolicy = &always
			c.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(1)}}}
		}),
	}
}

func environmentFeatures() map[string]feature {
	from := func(source corev1.EnvVarSource) feature {
		return web(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &source}} })
	}
	reference := corev1.LocalObjectReference{Name: "o"}
	return map[string]feature{
		"env": web(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", Value: "x"}, {Name: "B", Value: "$(A)"}, {Name: "C"}}
		}),
		"env-twice":  web(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", Value: "x"}, {Name: "A", Value: "y"}} }),
		"env-long":   web(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("é", 5_000)}} }),
		"env-field":  from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}),
		"env-config": from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: reference, Key: "k", Optional: new(true)}}),
		"env-secret": from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: reference, Key: "k"}}),
		"env-resource": from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			ContainerName: "web", Resource: "limits.memory", Divisor: resource.MustParse("1Mi"),
		}}),
		"env-resource-plain": from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.cpu"}}),
		"env-from": web(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{
				{Prefix: "P_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: reference}},
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: reference, Optional: new(false)}},
			}
		}),
	}
}

func probeFeatures() map[string]feature {
	features := map[string]feature{}
	handlers := map[string]corev1.ProbeHandler{
		"exec": {Exec: &corev1.ExecAction{Command: []string{"true"}}},
		"http": {HTTPGet: &corev1.HTTPGetAction{
			Path: "/healthz?a=b", Port: intstr.FromInt32(8080), Scheme: corev1.URISchemeHTTPS, Host: "h",
			HTTPHeaders: []corev1.HTTPHeader{{Name: "X-A", Value: "b"}},
		}},
		"http-named": {HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}},
		"tcp":        {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(1), Host: "10.0.0.1"}},
		"grpc":       {GRPC: &corev1.GRPCAction{Port: 9000, Service: new("s")}},
		"grpc-plain": {GRPC: &corev1.GRPCAction{Port: 9000}},
	}
	for name, handler := range handlers {
		features["ready-"+name] = web(func(c *corev1.Container) { c.ReadinessProbe = &corev1.Probe{ProbeHandler: handler} })
		features["alive-"+name] = web(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: handler, InitialDelaySeconds: 1, TimeoutSeconds: 2, PeriodSeconds: 3, FailureThreshold: 4, TerminationGracePeriodSeconds: new(int64(5))}
		})
		features["started-"+name] = web(func(c *corev1.Container) {
			c.StartupProbe = &corev1.Probe{ProbeHandler: handler, FailureThreshold: 300}
		})
	}
	return features
}
