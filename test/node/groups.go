package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// groupsFolder is where control groups are mounted.
const groupsFolder = "/sys/fs/cgroup"

// hierarchy is a tree of control groups, as mounted on this machine.
type hierarchy struct {
	folder  string
	options string // of the mount: the controllers, or a name; "" for the unified one
}

// mounted are the hierarchies of the machine: one for each controller, or one for all.
type mounted struct {
	all     []hierarchy
	unified bool
}

// hierarchies reads what is mounted.
func hierarchies() (mounted, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return mounted{}, fmt.Errorf("looking for control groups: %w", err)
	}
	found := findHierarchies(string(text))
	if len(found.all) == 0 {
		return mounted{}, fmt.Errorf("no control groups are mounted below %s, which containers need", groupsFolder)
	}
	return found, nil
}

// findHierarchies finds them in a list of mounts; its format is that of proc_pid_mountinfo(5).
func findHierarchies(mountinfo string) mounted {
	var found mounted
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		switch {
		case kind[0] == "cgroup2" && place[4] == groupsFolder:
			return mounted{all: []hierarchy{{folder: groupsFolder}}, unified: true}
		case kind[0] == "cgroup":
			options := slices.DeleteFunc(strings.Split(kind[2], ","), func(option string) bool {
				return option == "rw" || option == "ro" || option == "xattr" || strings.HasPrefix(option, "release_agent=")
			})
			found.all = append(found.all, hierarchy{place[4], strings.Join(options, ",")})
		}
	}
	return found
}

// membership is a group of a process, in one hierarchy.
type membership struct{ now, before string }

// groups are the control groups of the node, one in each hierarchy.
type groups []membership

// newGroups makes groups below those that this process is in; in the unified hierarchy below
// the root, since no other may have both processes and groups with limits.
func newGroups(name string) (made groups, err error) {
	mounted, err := hierarchies()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, made.remove())
		}
	}()
	for _, h := range mounted.all {
		before, err := h.own()
		if err != nil {
			return made, err
		}
		parent := before
		if mounted.unified {
			parent = h.folder
		}
		m := membership{filepath.Join(parent, name), before}
		if err := os.Mkdir(m.now, 0o755); err != nil { //nolint:gosec // as others are
			return made, fmt.Errorf("making a control group: %w", err)
		}
		made = append(made, m)
		if err := inherit(parent, m.now); err != nil {
			return made, err
		}
		if mounted.unified {
			if err := controlled(m.now); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// own is the folder of the group that this process is in.
func (h hierarchy) own() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("reading the control groups of this process: %w", err)
	}
	path, found := pathOf(string(text), h.options)
	if !found {
		return "", fmt.Errorf("this process is in no control group below %s", h.folder)
	}
	return filepath.Join(h.folder, path), nil
}

// pathOf finds the path of a process in one hierarchy, in a text as cgroups(7) has it.
func pathOf(memberships, controllers string) (path string, found bool) {
	for line := range strings.Lines(memberships) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && fields[1] == controllers {
			return fields[2], true
		}
	}
	return "", false
}

// inherit copies what a group of the controller cpuset needs before a process can join it.
func inherit(parent, group string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := readFile(filepath.Join(parent, file))
		if errors.Is(err, fs.ErrNotExist) || len(value) == 0 {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(group, file), []byte(value), 0o600)
		}
		if err != nil {
			return fmt.Errorf("setting up a control group: %w", err)
		}
	}
	return nil
}

// controlled is an error unless a group of the unified hierarchy has what containers need.
func controlled(group string) error {
	controllers, err := readFile(filepath.Join(group, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, name := range []string{"cpu", "memory", "pids"} {
		if !slices.Contains(strings.Fields(controllers), name) {
			return fmt.Errorf("control groups below %[1]s have no controller %[2]s, which containers need: write +%[2]s to %[1]s/cgroup.subtree_control", filepath.Dir(group), name)
		}
	}
	return nil
}

// leaveRoot moves this process out of the root of the unified hierarchy, as the namespace shows
// it: the kubelet wants to give limits to groups there.
func leaveRoot() error {
	group := filepath.Join(groupsFolder, "inside")
	if err := os.Mkdir(group, 0o755); err != nil { //nolint:gosec // as others are
		return fmt.Errorf("making a control group: %w", err)
	}
	return join(group)
}

func join(group string) error {
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0o600); err != nil {
		return fmt.Errorf("joining a control group: %w", err)
	}
	return nil
}

// start starts a process in the groups, for which this process joins them for a moment.
func (g groups) start(cmd *exec.Cmd) (err error) {
	defer func() {
		for _, m := range g {
			err = errors.Join(err, join(m.before))
		}
	}()
	for _, m := range g {
		if err := join(m.now); err != nil {
			return err
		}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the node in namespaces of its own: %w", err)
	}
	return nil
}

// remove removes the groups, from the innermost outward. A process that has just ended may be
// in its group for a moment more.
func (g groups) remove() error {
	var left error
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		left = nil
		for _, m := range g {
			left = errors.Join(left, removeGroup(m.now))
		}
		return left == nil, nil
	})
	if err != nil {
		return fmt.Errorf("removing the control groups: %w", left)
	}
	return nil
}

// removeGroup removes the folders only: the files in them are not real.
func removeGroup(group string) error {
	var folders []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	for _, folder := range slices.Backward(folders) {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}
