package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// feature fills in a part of a template.
type feature func(*corev1.PodTemplateSpec)

// mixtures is how many templates are mixed from several features.
const mixtures = 40

// theTemplates are the templates whose ReplicaSets' names are compared, by the name of
// their Deployment: each feature alone, mixtures of them that are the same each time, and
// plain ones whose Deployment has a long name.
func theTemplates() map[string]corev1.PodTemplateSpec {
	features := theFeatures()
	templates := map[string]corev1.PodTemplateSpec{}
	for name, fill := range features {
		templates[name] = newTemplate(name, fill)
	}
	sorted := slices.Sorted(maps.Keys(features))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range mixtures {
		var mixed []feature
		for range 2 + random.IntN(5) {
			mixed = append(mixed, features[sorted[random.IntN(len(sorted))]])
		}
		name := fmt.Sprintf("mixture-%03d", i)
		templates[name] = newTemplate(name, mixed...)
	}
	// The hash takes up to 10 characters and the hyphen one: from 242 on, names are cut.
	for length := 238; length <= 253; length++ {
		name := fmt.Sprintf("name-of-%d-", length)
		name += strings.Repeat("n", length-len(name))
		templates[name] = newTemplate(name[:11])
	}
	return templates
}

// theFeatures are all features, by name.
func theFeatures() map[string]feature {
	features := map[string]feature{}
	for _, some := range []map[string]feature{
		metadataFeatures(), podFeatures(), placementFeatures(), containerFeatures(), environmentFeatures(),
		probeFeatures(), securityFeatures(), volumeFeatures(), sourceFeatures(),
	} {
		maps.Copy(features, some)
	}
	return features
}

// newTemplate is a template of one container with a label of its own. Features that set
// the same thing replace each other; what they add to a list is added once.
func newTemplate(label string, features ...feature) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"case": label}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
	for _, fill := range features {
		fill(&template)
	}
	return template
}

func metadataFeatures() map[string]feature {
	annotated := func(annotations map[string]string) feature {
		return func(t *corev1.PodTemplateSpec) { t.Annotations = annotations }
	}
	labeled := func(key, value string) feature {
		return func(t *corev1.PodTemplateSpec) { t.Labels[key] = value }
	}
	return map[string]feature{
		"plain":                    func(*corev1.PodTemplateSpec) {},
		"annotations-empty":        annotated(map[string]string{}),
		"annotation-without-value": annotated(map[string]string{"a": ""}),
		"annotation-unicode":       annotated(map[string]string{"a": "ä — 你好 🚀 \u202e \x00 \t\n"}),
		"annotation-quotes":        annotated(map[string]string{"a": `{"b":"c\\d"}`, "b": `'"%v%!d<>&`}),
		"annotation-long":          annotated(map[string]string{"a": strings.Repeat("long ", 2_000)}),
		"annotations-many": func(t *corev1.PodTemplateSpec) {
			t.Annotations = map[string]string{}
			for i := range 100 {
				t.Annotations[fmt.Sprintf("example.com/a%d", i)] = fmt.Sprint(i)
			}
		},
		"label-empty":       labeled("more", ""),
		"label-of-63":       labeled("more", strings.Repeat("l", 63)),
		"label-with-prefix": labeled(strings.Repeat("p", 60)+".example.com/name", "x"),
		"label-of-the-hash": labeled("pod-template-hash", "123"),
		"finalizers":        func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"example.com/a", "example.com/b"} },
		"finalizers-empty":  func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{} },
		"name-and-namespace": func(t *corev1.PodTemplateSpec) {
			t.Name, t.Namespace, t.GenerateName = "n", "m", "g-"
		},
		"owner": func(t *corev1.PodTemplateSpec) {
			t.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "u", Controller: new(false), BlockOwnerDeletion: new(true)}}
		},
		"server-fields": func(t *corev1.PodTemplateSpec) {
			t.UID, t.ResourceVersion, t.Generation = "u", "7", 3
			t.CreationTimestamp = metav1.Unix(1_000_000_000, 0)
		},
	}
}

func podFeatures() map[string]feature {
	spec := func(fill func(*corev1.PodSpec)) feature {
		return func(t *corev1.PodTemplateSpec) { fill(&t.Spec) }
	}
	return map[string]feature{
		"grace-0":           spec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = new(int64(0)) }),
		"grace-long":        spec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = new(int64(1 << 40)) }),
		"dns-none":          spec(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSNone; s.DNSConfig = dnsConfig() }),
		"dns-config":        spec(func(s *corev1.PodSpec) { s.DNSConfig = dnsConfig() }),
		"dns-config-empty":  spec(func(s *corev1.PodSpec) { s.DNSPolicy, s.DNSConfig = corev1.DNSClusterFirst, &corev1.PodDNSConfig{} }),
		"dns-default":       spec(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault }),
		"service-account":   spec(func(s *corev1.PodSpec) { s.ServiceAccountName = "builder" }),
		"service-account-2": spec(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "builder" }),
		"no-token":          spec(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = new(false) }),
		"token":             spec(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = new(true) }),
		"host-network":      spec(func(s *corev1.PodSpec) { s.HostNetwork = true }),
		"host-pid-and-ipc":  spec(func(s *corev1.PodSpec) { s.HostPID, s.HostIPC = true, true }),
		"shared-processes":  spec(func(s *corev1.PodSpec) { s.ShareProcessNamespace = new(true) }),
		"unshared":          spec(func(s *corev1.PodSpec) { s.ShareProcessNamespace = new(false) }),
		"host-users-off":    spec(func(s *corev1.PodSpec) { s.HostUsers = new(false) }),
		"hostname":          spec(func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "h", "s" }),
		"fqdn":              spec(func(s *corev1.PodSpec) { s.SetHostnameAsFQDN = new(true) }),
		"pull-secrets":      spec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}} }),
		"host-aliases": spec(func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"a", "b"}}, {IP: "::1"}}
		}),
		"scheduler":        spec(func(s *corev1.PodSpec) { s.SchedulerName = "mine" }),
		"priority":         spec(func(s *corev1.PodSpec) { s.PriorityClassName = "system-cluster-critical" }),
		"preemption":       spec(func(s *corev1.PodSpec) { s.PreemptionPolicy = new(corev1.PreemptNever) }),
		"priority-number":  spec(func(s *corev1.PodSpec) { s.Priority = new(int32(-5)) }),
		"runtime-class":    spec(func(s *corev1.PodSpec) { s.RuntimeClassName = new("kata") }),
		"no-service-links": spec(func(s *corev1.PodSpec) { s.EnableServiceLinks = new(false) }),
		"readiness-gates": spec(func(s *corev1.PodSpec) {
			s.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/g"}}
		}),
		"scheduling-gates": spec(func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/g"}} }),
		"os-linux":         spec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Linux} }),
		"os-windows":       spec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }),
		"resource-claims": spec(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: new("r")}}
		}),
		"pod-resources": spec(func(s *corev1.PodSpec) { s.Resources = &corev1.ResourceRequirements{Requests: quantities("cpu", "1")} }),
		"empty-lists":   spec(emptyLists),
		"several":       spec(func(s *corev1.PodSpec) { s.Containers = append(s.Containers, corev1.Container{Name: "b", Image: "b"}) }),
		"node-selector": spec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "", "b": "c"} }),
	}
}

func dnsConfig() *corev1.PodDNSConfig {
	return &corev1.PodDNSConfig{
		Nameservers: []string{"10.0.0.1"}, Searches: []string{"example.com"},
		Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}, {Name: "edns0"}},
	}
}

// emptyLists makes lists and maps empty that are nil.
func emptyLists(s *corev1.PodSpec) {
	web := &s.Containers[0]
	s.Volumes, s.InitContainers, s.Tolerations = notNil(s.Volumes), notNil(s.InitContainers), notNil(s.Tolerations)
	s.HostAliases, s.SchedulingGates = notNil(s.HostAliases), notNil(s.SchedulingGates)
	web.Command, web.Args, web.Env, web.Ports = notNil(web.Command), notNil(web.Args), notNil(web.Env), notNil(web.Ports)
	s.NodeSelector, web.Resources.Claims = map[string]string{}, notNil(web.Resources.Claims)
	s.Affinity, s.SecurityContext = &corev1.Affinity{}, &corev1.PodSecurityContext{}
	web.SecurityContext, web.Lifecycle = &corev1.SecurityContext{}, &corev1.Lifecycle{}
}

func notNil[T any](list []T) []T { return append([]T{}, list...) }
