package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
)

// The second instance. On a node of its own it would have the shipped manifest, and the same name
// and port; on the node of the first one it needs others.
const (
	second       = ours + "-2"
	secondMirror = second + "-" + nodeName
	secondPort   = "10268"
)

// nobody is the user of the image, who is nobody on the machine.
const nobody = 65532

// replaceAll changes a manifest as sed does, and is an error for a text that is not in it.
func (s *scene) replaceAll(text string, oldNew ...string) (string, error) {
	for pair := range slices.Chunk(oldNew, 2) {
		if !strings.Contains(text, pair[0]) {
			return "", fmt.Errorf("the manifest has no %q", pair[0])
		}
		text = strings.ReplaceAll(text, pair[0], pair[1])
		s.note("in the manifest: %q is now %q", pair[0], pair[1])
	}
	return text, nil
}

// edited changes a flag in the manifest, as an operator does.
func (s *scene) edited(ctx context.Context) error {
	text, _, err := s.shipped()
	if err != nil {
		return err
	}
	before, err := s.pod(ctx, mirror)
	if err != nil {
		return err
	}
	const flag = "- --leader-elect=true\n"
	text, err = s.replaceAll(text, flag, flag+"        - --v=4\n")
	if err != nil {
		return err
	}
	if err := s.putManifest(ours, text); err != nil {
		return err
	}
	err = s.awaitPod(ctx, mirror, func(pod *corev1.Pod) error {
		if pod.UID == before.UID || !slices.Contains(pod.Spec.Containers[0].Args, "--v=4") {
			return errors.New("it is the old one")
		}
		return restarted(0)(pod)
	})
	if err != nil {
		return err
	}
	process, err := s.process(ctx, mirror)
	if err != nil {
		return err
	}
	args, err := process.args()
	if err == nil && !slices.Contains(args, "--v=4") {
		err = fmt.Errorf("the process does not have the flag --v=4: %s", args)
	}
	s.note("the process runs with %s", strings.Join(args[1:], " "))
	if err != nil {
		return err
	}
	return s.goesOn(mirror)(ctx)
}

// two starts a second instance, and takes the manifest of the first one away.
func (s *scene) two(ctx context.Context) error {
	text, _, err := s.shipped()
	if err != nil {
		return err
	}
	s.note("on a second node it would be the shipped manifest; beside the first one it needs another name and port")
	text, err = s.replaceAll(text, "  name: "+ours+"\n  namespace", "  name: "+second+"\n  namespace", "10267", secondPort)
	if err != nil {
		return err
	}
	if err := s.startPod(ctx, second, text); err != nil {
		return err
	}
	if err := s.all(ctx, s.goesOn(mirror), s.standsBy(secondMirror)); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(manifests, ours+".yaml")); err != nil {
		return fmt.Errorf("removing the manifest of the leader: %w", err)
	}
	s.note("removed the manifest of the leader")
	if err := s.all(ctx, s.leads(secondMirror), s.gone(mirror), s.goesOn(secondMirror)); err != nil {
		return err
	}
	return s.removeManifest(ctx, second)
}

// standsBy is an error if a static pod has led.
func (s *scene) standsBy(pod string) func(context.Context) error {
	return func(ctx context.Context) error {
		const waits = "Another process leads, standing by"
		log, err := s.log(ctx, pod)
		if err != nil {
			return err
		}
		if strings.Contains(log, "Became the leader") || !strings.Contains(log, waits) {
			return fmt.Errorf("pod %s does not stand by: %s", pod, log)
		}
		s.transcript.WriteString(linesWith(log, []string{waits}))
		return nil
	}
}

// otherUser follows deploy/README.md, "As another user than root".
func (s *scene) otherUser(ctx context.Context) error {
	const kubeconfig = "/etc/kubernetes/deployments.conf"
	// What "kubeadm kubeconfig user" does with the key of kubeadm's own authority.
	credentials, err := readFile(s.cluster.KubeconfigPath(localcluster.OurUser))
	if err != nil {
		return err
	}
	if err := place([]byte(credentials), kubeconfig, 0o400); err != nil {
		return err
	}
	if err := os.Chown(kubeconfig, nobody, nobody); err != nil {
		return fmt.Errorf("giving the kubeconfig away: %w", err)
	}
	if _, err := s.kubectl(ctx, "apply", "-f", filepath.Join(s.options.Deploy, "rbac", "user.yaml")); err != nil {
		return err
	}
	text, _, err := s.shipped()
	if err != nil {
		return err
	}
	text, err = s.replaceAll(text,
		"/etc/kubernetes/controller-manager.conf", kubeconfig,
		"runAsUser: 0", fmt.Sprint("runAsUser: ", nobody),
		"runAsGroup: 0", fmt.Sprint("runAsGroup: ", nobody),
		"        - --use-service-account-credentials=true\n", "")
	if err != nil {
		return err
	}
	if err := s.startPod(ctx, ours, text); err != nil {
		return err
	}
	process, err := s.process(ctx, mirror)
	if err != nil {
		return err
	}
	status, err := process.status()
	if err != nil {
		return err
	}
	ids := strings.TrimSpace(strings.Repeat(fmt.Sprint(nobody, " "), 4))
	if err := errors.Join(s.same("user", status["Uid"], ids), s.same("group", status["Gid"], ids)); err != nil {
		return err
	}
	return s.goesOn(mirror)(ctx)
}

// giveBack takes the static pod away and turns the built-in loops on.
func (s *scene) giveBack(ctx context.Context) (err error) {
	if s.before, err = s.versionsOf(ctx, idle); err != nil {
		return err
	}
	if err := s.removeManifest(ctx, ours); err != nil {
		return err
	}
	if err := s.restartBuiltin(ctx, loopsOn); err != nil {
		return err
	}
	if err := s.loopsAre(loopsOn); err != nil {
		return err
	}
	return s.all(ctx, s.rollOut, s.untouched)
}

// mistake starts the static pod although the built-in loops are on.
func (s *scene) mistake(ctx context.Context) error {
	if err := s.loopsAre(loopsOn); err != nil {
		return err
	}
	if err := s.putShipped(ctx); err != nil {
		return err
	}
	if err := s.all(ctx, s.leads(mirror), s.rollOut); err != nil {
		return err
	}
	var complaint string
	err := s.await(ctx, "the log to say at error level that another program is at work", func(ctx context.Context) error {
		log, err := s.log(ctx, mirror)
		if err != nil {
			return err
		}
		complaint = linesWith(log, []string{anotherProgram})
		if !strings.HasPrefix(complaint, "E") {
			return errors.New("it does not")
		}
		return nil
	})
	s.transcript.WriteString(complaint)
	if err != nil {
		return err
	}
	return s.removeManifest(ctx, ours)
}
