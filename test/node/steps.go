package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
)

// steps are what an operator does, in this order. Each begins where the one before has ended.
func steps() []step {
	return []step{
		{"a node like those of kubeadm runs two Deployments under the built-in loops", (*scene).builtinLoops},
		{"the built-in loops are turned off, and the shipped static pod runs and is ready", (*scene).takeOver},
		{"its process has the rights that the manifest leaves it, and no others", (*scene).confined},
		{"it rolls out on real containers, its log tells so, and nothing is written needlessly", (*scene).rollsOut},
		{"killed, it is started again, leads again and goes on", (*scene).killed},
		{"its manifest edited, it is replaced by one with the new flag", (*scene).edited},
		{"of two instances one leads; its manifest removed, the other one does", (*scene).two},
		{"it works as another user than root, with a kubeconfig of its own", (*scene).otherUser},
		{"removed, and the built-in loops turned on again, they go on, and nothing is written needlessly", (*scene).giveBack},
		{"started although the built-in loops are on, it says so at error level", (*scene).mistake},
	}
}

func (s *scene) builtinLoops(ctx context.Context) error {
	if err := s.loopsAre(loopsOn); err != nil {
		return err
	}
	if _, err := s.kubectl(ctx, "get", "nodes", "-o", "wide"); err != nil {
		return err
	}
	deployments, err := configFiles.ReadFile("config/deployments.yaml")
	if err != nil {
		return fmt.Errorf("reading the Deployments: %w", err)
	}
	path := filepath.Join(s.work, "deployments.yaml")
	if err := place(deployments, path, 0o600); err != nil {
		return err
	}
	if _, err := s.kubectl(ctx, "apply", "-f", path); err != nil {
		return err
	}
	if err := s.all(ctx, s.settled(web), s.settled(idle)); err != nil {
		return err
	}
	// So that it has a former ReplicaSet too.
	if _, err := s.kubectl(ctx, "set", "image", "deployment/"+idle, "pause="+otherPauseImage); err != nil {
		return err
	}
	return s.settled(idle)(ctx)
}

// takeOver follows deploy/README.md, "On a kubeadm cluster".
func (s *scene) takeOver(ctx context.Context) error {
	var err error
	if s.before, err = s.versionsOf(ctx, idle); err != nil {
		return err
	}
	rbac := filepath.Join(s.options.Deploy, "rbac")
	if _, err := s.kubectl(ctx, "apply", "-f", filepath.Join(rbac, "roles.yaml"), "-f", filepath.Join(rbac, "kube-controller-manager.yaml")); err != nil {
		return err
	}
	if err := s.restartBuiltin(ctx, loopsOff); err != nil {
		return err
	}
	if err := s.loopsAre(loopsOff); err != nil {
		return err
	}
	if err := s.putShipped(ctx); err != nil {
		return err
	}
	return errors.Join(s.shippedIsInPlace(), s.all(ctx, s.leads(mirror), s.probesPass))
}

// putShipped puts the shipped manifest in, as it is, and waits for its Pod.
func (s *scene) putShipped(ctx context.Context) error {
	text, _, err := s.shipped()
	if err != nil {
		return err
	}
	return s.startPod(ctx, ours, text)
}

// leads is awaitLeader as a part of a step.
func (s *scene) leads(pod string) func(context.Context) error {
	return func(ctx context.Context) error { return s.awaitLeader(ctx, pod) }
}

// probesPass waits until the kubelet has counted both probes as passed, and none as failed.
func (s *scene) probesPass(ctx context.Context) error {
	var counted []string
	err := s.await(ctx, "the startup probe and the liveness probe to pass", func(ctx context.Context) error {
		page, err := s.cluster.Kubectl(ctx, "get", "--raw", "/api/v1/nodes/"+nodeName+"/proxy/metrics/probes")
		if err != nil {
			return err
		}
		counted = nil
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "prober_probe_total{") && strings.Contains(line, `pod="`+mirror+`"`) {
				counted = append(counted, line)
			}
		}
		for _, want := range []string{"Startup", "Liveness"} {
			if !slices.ContainsFunc(counted, func(line string) bool {
				return strings.Contains(line, `probe_type="`+want+`"`) && strings.Contains(line, `result="successful"`)
			}) {
				return fmt.Errorf("the kubelet has not counted a %s probe as passed: %s", want, counted)
			}
		}
		return nil
	})
	s.transcript.WriteString(strings.Join(counted, ""))
	for _, line := range counted {
		if strings.Contains(line, `probe_type="Liveness"`) && !strings.Contains(line, `result="successful"`) {
			err = errors.Join(err, fmt.Errorf("a liveness probe failed: %s", line))
		}
	}
	return err
}

// confined compares the running process with what the manifest says of it.
func (s *scene) confined(ctx context.Context) error {
	_, pod, err := s.shipped()
	if err != nil {
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
	args, err := process.args()
	if err != nil {
		return err
	}
	root, err := process.root()
	if err != nil {
		return err
	}
	variable, err := process.variable("GOMEMLIMIT")
	if err != nil {
		return err
	}
	limit, err := process.memoryLimit()
	if err != nil {
		return err
	}
	container := pod.Spec.Containers[0]
	user := fmt.Sprint(*pod.Spec.SecurityContext.RunAsUser)
	group := fmt.Sprint(*pod.Spec.SecurityContext.RunAsGroup)
	return errors.Join(
		s.same("arguments", strings.Join(args[1:], " "), strings.Join(container.Args, " ")),
		s.same("user (real, effective, saved, of files)", status["Uid"], strings.Join([]string{user, user, user, user}, " ")),
		s.same("group", status["Gid"], strings.Join([]string{group, group, group, group}, " ")),
		s.same("no new privileges", status["NoNewPrivs"], "1"),
		s.same("capabilities in effect", status["CapEff"], noCapabilities),
		s.same("capabilities it could get", status["CapBnd"], noCapabilities),
		s.same("seccomp (2: a filter)", status["Seccomp"], "2"),
		s.same("root folder", root, "ro"),
		s.same("memory limit", limit, fmt.Sprint(container.Resources.Limits.Memory().Value())),
		s.same("variable", variable, container.Env[0].Name+"="+container.Env[0].Value),
	)
}

const noCapabilities = "0000000000000000"

// same notes what was seen, and is an error if that is not as wanted.
func (s *scene) same(what, got, want string) error {
	s.note("%s: %s", what, got)
	if got != want {
		return fmt.Errorf("%s: it is %q, and has to be %q", what, got, want)
	}
	return nil
}

func (s *scene) rollsOut(ctx context.Context) error {
	follower, err := s.cluster.Launch(ctx, localcluster.Command{
		Name: "kubectl-logs",
		Path: s.cluster.KubectlPath(),
		Args: []string{"--kubeconfig=" + s.cluster.KubeconfigPath(localcluster.AdminUser), "-n", "kube-system", "logs", "-f", mirror},
		Ends: true,
	})
	if err != nil {
		return err
	}
	if err := s.rollOut(ctx); err != nil {
		return err
	}
	story := []string{
		`"Created ReplicaSet" deployment="default/web"`,
		`"Created pods" replicaSet="default/web-`,
		`"Scaled ReplicaSet" deployment="default/web"`,
		`"Deleted pods" replicaSet="default/web-`,
	}
	s.transcript.WriteString("$ kubectl -n kube-system logs -f " + mirror + "\n")
	var followed string
	err = s.await(ctx, "the log that is followed to tell of it", func(context.Context) error {
		text, err := readFile(follower.LogPath)
		followed = text
		return errors.Join(err, hasAll(text, story))
	})
	s.transcript.WriteString(linesWith(followed, append(story, "Became the leader")))
	if err := errors.Join(err, follower.Stop()); err != nil {
		return err
	}
	log, err := s.log(ctx, mirror)
	if err != nil {
		return err
	}
	if err := hasAll(log, story); err != nil {
		return fmt.Errorf("reading the log without following it: %w", err)
	}
	return errors.Join(s.noWolf(log), s.untouched(ctx))
}

// noWolf is an error if the log tells of somebody else at work, where nobody is.
func (s *scene) noWolf(log string) error {
	if found := linesWith(log, []string{anotherProgram}); found != "" {
		return fmt.Errorf("it saw another program at work, which was off: %s", found)
	}
	s.note("it saw no other program at work")
	return nil
}

// anotherProgram is what the log says, as an error, of others that do the same work.
const anotherProgram = "Another program runs the same control loops"

// killed ends the process as the kernel would, for want of memory.
func (s *scene) killed(ctx context.Context) error {
	old, err := s.process(ctx, mirror)
	if err != nil {
		return err
	}
	fmt.Fprintf(&s.transcript, "$ kill -9 %d\n", old.pid)
	if err := syscall.Kill(old.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing process %d: %w", old.pid, err)
	}
	err = s.awaitPod(ctx, mirror, func(pod *corev1.Pod) error {
		last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
		if err := restarted(1)(pod); err != nil || last == nil || last.ExitCode != 128+int32(syscall.SIGKILL) {
			return errors.Join(err, fmt.Errorf("the last process ended so: %v", last))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.goesOn(mirror)(ctx)
}

// shippedIsInPlace is an error unless the kubelet's folder has the manifest, byte for byte.
func (s *scene) shippedIsInPlace() error {
	text, _, err := s.shipped()
	if err != nil {
		return err
	}
	there, err := readFile(filepath.Join(manifests, ours+".yaml"))
	if err == nil && text != there {
		err = errors.New("the manifest in the kubelet's folder is not the shipped one")
	}
	return err
}

// goesOn is what each change has to end with: a static pod leads, rolls out, and is not mistaken
// about who else does.
func (s *scene) goesOn(pod string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.all(ctx, s.leads(pod), s.rollOut); err != nil {
			return err
		}
		log, err := s.log(ctx, pod)
		if err != nil {
			return err
		}
		return s.noWolf(log)
	}
}
