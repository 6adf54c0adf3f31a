package e2e

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mounted is a feature: a volume, mounted into the first container.
func mounted(name string, source corev1.VolumeSource) feature {
	return func(t *corev1.PodTemplateSpec) {
		for _, volume := range t.Spec.Volumes {
			if volume.Name == name {
				return
			}
		}
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		web := &t.Spec.Containers[0]
		web.VolumeMounts = append(web.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name, ReadOnly: len(name)%2 == 0})
	}
}

// sources turns kinds of volumes into features, named after them.
func sources(kinds map[string]corev1.VolumeSource) map[string]feature {
	features := map[string]feature{}
	for name, source := range kinds {
		features["volume-"+name] = mounted(name, source)
	}
	return features
}

// volumeFeatures are volumes that Kubernetes itself provides.
func volumeFeatures() map[string]feature {
	reference := corev1.LocalObjectReference{Name: "o"}
	items := []corev1.KeyToPath{{Key: "a", Path: "b"}, {Key: "c", Path: "d", Mode: new(int32(0o400))}}
	claim := &corev1.PersistentVolumeClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(""),
			Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", "1Gi")},
		},
	}
	field := &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['app']"}
	features := sources(map[string]corev1.VolumeSource{
		"default":        {},
		"empty":          {EmptyDir: &corev1.EmptyDirVolumeSource{}},
		"memory":         {EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: new(resource.MustParse("64Mi"))}},
		"hostpath":       {HostPath: &corev1.HostPathVolumeSource{Path: "/var"}},
		"hostpath-typed": {HostPath: &corev1.HostPathVolumeSource{Path: "/var", Type: new(corev1.HostPathDirectoryOrCreate)}},
		"config":         {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: reference}},
		"config-items":   {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: reference, Items: items, DefaultMode: new(int32(0)), Optional: new(true)}},
		"secret":         {Secret: &corev1.SecretVolumeSource{SecretName: "o"}},
		"secret-items":   {Secret: &corev1.SecretVolumeSource{SecretName: "o", Items: items, Optional: new(false)}},
		"claim":          {PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p"}},
		"claim-read":     {PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p", ReadOnly: true}},
		"ephemeral":      {Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: claim}},
		"downward": {DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "a", FieldRef: field},
			{Path: "b", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "web", Resource: "limits.cpu", Divisor: resource.MustParse("1m")}},
		}}},
		"projected": {Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o644)), Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: reference, Items: items}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: reference}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "f", FieldRef: field}}}},
		}}},
		"image": {Image: &corev1.ImageVolumeSource{Reference: "data:1", PullPolicy: corev1.PullAlways}},
	})
	features["mounts-of-every-kind"] = func(t *corev1.PodTemplateSpec) {
		mounted("many", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(t)
		web := &t.Spec.Containers[0]
		web.VolumeMounts = append(web.VolumeMounts,
			corev1.VolumeMount{Name: "many", MountPath: "/m1", SubPath: "s"},
			corev1.VolumeMount{Name: "many", MountPath: "/m2", SubPathExpr: "$(A)"},
			corev1.VolumeMount{Name: "many", MountPath: "/m3", MountPropagation: new(corev1.MountPropagationHostToContainer)},
			corev1.VolumeMount{Name: "many", MountPath: "/m4", ReadOnly: true, RecursiveReadOnly: new(corev1.RecursiveReadOnlyDisabled)})
	}
	features["block-device"] = func(t *corev1.PodTemplateSpec) {
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: "block", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p"},
		}})
		t.Spec.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "block", DevicePath: "/dev/x"}}
	}
	return features
}

// sourceFeatures are volumes that others provide.
func sourceFeatures() map[string]feature {
	secret := &corev1.LocalObjectReference{Name: "o"}
	return sources(map[string]corev1.VolumeSource{
		"nfs":     {NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p", ReadOnly: true}},
		"iscsi":   {ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: "iqn.2001-04.com.example:a", Lun: 1, FSType: "ext4"}},
		"fc":      {FC: &corev1.FCVolumeSource{TargetWWNs: []string{"w"}, Lun: new(int32(2))}},
		"csi":     {CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"a": "b"}, NodePublishSecretRef: secret}},
		"flex":    {FlexVolume: &corev1.FlexVolumeSource{Driver: "example.com/d", Options: map[string]string{"a": "b"}, SecretRef: secret}},
		"ceph":    {CephFS: &corev1.CephFSVolumeSource{Monitors: []string{"m"}, User: "u", SecretRef: secret}},
		"rbd":     {RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "i", RadosUser: "u"}},
		"gluster": {Glusterfs: &corev1.GlusterfsVolumeSource{EndpointsName: "e", Path: "p"}},
		"cinder":  {Cinder: &corev1.CinderVolumeSource{VolumeID: "v", FSType: "xfs"}},
		"gce":     {GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d", Partition: 1}},
		"aws":     {AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "v"}},
		"azure":   {AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "https://example.com/d"}},
		"share":   {AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s", ShareName: "n"}},
		"vsphere": {VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "p", StoragePolicyName: "n"}},
		"portx":   {PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "v"}},
		"scaleio": {ScaleIO: &corev1.ScaleIOVolumeSource{Gateway: "g", System: "s", SecretRef: secret, VolumeName: "v"}},
		"quobyte": {Quobyte: &corev1.QuobyteVolumeSource{Registry: "r:1", Volume: "v"}},
		"storage": {StorageOS: &corev1.StorageOSVolumeSource{VolumeName: "v"}},
		"flocker": {Flocker: &corev1.FlockerVolumeSource{DatasetName: "d"}},
		"photon":  {PhotonPersistentDisk: &corev1.PhotonPersistentDiskVolumeSource{PdID: "p"}},
		"git":     {GitRepo: &corev1.GitRepoVolumeSource{Repository: "https://example.com/r", Revision: "1"}},
	})
}

func securityFeatures() map[string]feature {
	pod := func(context corev1.PodSecurityContext) feature {
		return func(t *corev1.PodTemplateSpec) { t.Spec.SecurityContext = &context }
	}
	container := func(context corev1.SecurityContext) feature {
		return web(func(c *corev1.Container) { c.SecurityContext = &context })
	}
	profile := "p"
	return map[string]feature{
		"user":             pod(corev1.PodSecurityContext{RunAsUser: new(int64(0)), RunAsGroup: new(int64(1)), RunAsNonRoot: new(false)}),
		"groups":           pod(corev1.PodSecurityContext{FSGroup: new(int64(2)), SupplementalGroups: []int64{3, 4}, FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch)}),
		"groups-empty":     pod(corev1.PodSecurityContext{SupplementalGroups: []int64{}, Sysctls: []corev1.Sysctl{}}),
		"sysctls":          pod(corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "kernel.shm_rmid_forced", Value: "0"}}}),
		"selinux":          pod(corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c1,c2"}}),
		"seccomp":          pod(corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &profile}}),
		"apparmor":         pod(corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}}),
		"privileged":       container(corev1.SecurityContext{Privileged: new(true)}),
		"read-only-root":   container(corev1.SecurityContext{ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false)}),
		"capabilities":     container(corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}, Drop: []corev1.Capability{"ALL"}}}),
		"capabilities-off": container(corev1.SecurityContext{Capabilities: &corev1.Capabilities{}}),
		"proc-mount":       container(corev1.SecurityContext{ProcMount: new(corev1.DefaultProcMount)}),
		"seccomp-of-one":   container(corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}),
	}
}
