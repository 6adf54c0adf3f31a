package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// newNamespaces has a child see nothing of the machine but its files, and end with its parent.
func newNamespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		Pdeathsig: syscall.SIGKILL,
	}
}

// mount is one call of mount(2).
type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (m mount) do() error {
	if err := syscall.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", m.source, m.target, err)
	}
	return nil
}

// furnish gives the namespaces what a node finds: processes of its own, control groups, folders to
// write to, a network. work is a folder that goes with the node.
func furnish(ctx context.Context, work string) error {
	if err := (mount{source: "none", target: "/", flags: syscall.MS_REC | syscall.MS_PRIVATE}).do(); err != nil {
		return err
	}
	steps := []error{
		mount{source: "proc", target: "/proc", kind: "proc"}.do(),
		mount{source: "tmpfs", target: "/run", kind: "tmpfs"}.do(),
		copyOnWrite(work, "/etc"),
		copyOnWrite(work, "/var/lib"),
		copyOnWrite(work, "/var/log"),
		mountGroups(),
		showSettings(work),
		setNetworkUp(ctx),
	}
	return errors.Join(steps...)
}

// copyOnWrite hides a folder behind a copy of it that keeps what is written in memory.
func copyOnWrite(work, folder string) error {
	place := filepath.Join(work, "written", strings.ReplaceAll(folder, "/", "-"))
	if err := os.MkdirAll(place, 0o700); err != nil {
		return fmt.Errorf("making a copy of %s: %w", folder, err)
	}
	if err := (mount{source: "tmpfs", target: place, kind: "tmpfs"}).do(); err != nil {
		return err
	}
	changes, scratch := filepath.Join(place, "changes"), filepath.Join(place, "scratch")
	if err := errors.Join(os.Mkdir(changes, 0o755), os.Mkdir(scratch, 0o700)); err != nil { //nolint:gosec // it stands for a folder that all may read
		return fmt.Errorf("making a copy of %s: %w", folder, err)
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", folder, changes, scratch)
	return mount{source: "overlay", target: folder, kind: "overlay", data: layers}.do()
}

// mountGroups shows the control groups from the own one downward, as if there were no others.
func mountGroups() error {
	mounted, err := hierarchies()
	if err != nil {
		return err
	}
	if mounted.unified {
		// The kernel refuses to mount the same thing twice in one place.
		if err := syscall.Unmount(groupsFolder, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("hiding the control groups of the machine: %w", err)
		}
		if err := (mount{source: "cgroup2", target: groupsFolder, kind: "cgroup2"}).do(); err != nil {
			return err
		}
		return leaveRoot()
	}
	if err := (mount{source: "tmpfs", target: groupsFolder, kind: "tmpfs"}).do(); err != nil {
		return err
	}
	for _, h := range mounted.all {
		target := filepath.Join(groupsFolder, filepath.Base(h.folder))
		if err := os.Mkdir(target, 0o755); err != nil { //nolint:gosec // as the machine has it
			return fmt.Errorf("making a folder for control groups: %w", err)
		}
		data := h.options
		if strings.HasPrefix(data, "name=") {
			data = "none," + data // it has no controllers
		}
		if err := (mount{source: "cgroup", target: target, kind: "cgroup", data: data}).do(); err != nil {
			return err
		}
	}
	return nil
}

// showSettings shows the settings of the kernel that a kubelet changes as if they were as it wants
// them: they are the whole machine's.
func showSettings(work string) error {
	wanted := map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
	for name, value := range wanted {
		file := filepath.Join(work, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
			return fmt.Errorf("writing a setting of the kernel: %w", err)
		}
		if err := (mount{source: file, target: filepath.Join("/proc/sys", name), flags: syscall.MS_BIND}).do(); err != nil {
			return err
		}
	}
	return nil
}

// setNetworkUp makes a network of one interface with one address. The kubelet looks for its
// own address where the default route leads.
func setNetworkUp(ctx context.Context) error {
	for _, command := range []string{
		"link set lo up",
		"link add uplink type veth peer name nowhere",
		"address add " + nodeAddress + "/24 dev uplink",
		"link set nowhere up",
		"link set uplink up",
		"route add default dev uplink",
	} {
		output, err := exec.CommandContext(ctx, "ip", strings.Fields(command)...).CombinedOutput() //nolint:gosec // the arguments are ours
		if err != nil {
			return fmt.Errorf("running ip %s: %w: %s", command, err, output)
		}
	}
	return nil
}
