package lab

// WebHash is the hash that kube-controller-manager 1.37.2 gives the template of
// newDeployment("web", ...), with the defaults of that API server.
const WebHash = "57d9664db9"

// WebReplicaSet is the name of that Deployment's first ReplicaSet.
const WebReplicaSet = "web-" + WebHash
