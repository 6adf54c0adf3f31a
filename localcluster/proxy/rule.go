package proxy

import (
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Rule is what happens to some requests.
type Rule struct {
	Match Match
	// Skip is how many matching requests pass before the rule acts.
	Skip int
	// Times is on how many requests the rule acts; 0 is on all.
	Times  int
	Action Action
}

// Match says which requests a rule is about. An empty field leaves it open.
type Match struct {
	// Verb is a verb of the Kubernetes API: get, list, watch, create, update, patch,
	// delete, deletecollection. A watch that begins with a list is a watch.
	Verb string
	// Resource is a plural such as "pods", and with a subresource "pods/status".
	// "pods" is not about the subresources of pods.
	Resource string
	// Namespace is that of the request. A list or watch over all namespaces has none,
	// and only a Match without a namespace is about it.
	Namespace string
	// Name is that of the object. A create has none, nor has a list or watch unless
	// it asks for one name.
	Name string
}

func (m Match) matches(asked *apirequest.RequestInfo) bool {
	resource := asked.Resource
	if asked.Subresource != "" {
		resource += "/" + asked.Subresource
	}
	return wants(m.Verb, asked.Verb) && wants(m.Resource, resource) &&
		wants(m.Namespace, asked.Namespace) && wants(m.Name, asked.Name)
}

func wants(wanted, got string) bool { return wanted == "" || wanted == got }
