package node

import (
	"fmt"
	"path/filepath"
	"strings"
)

// process is one of this machine, as /proc shows it; see proc(5).
type process struct{ pid int }

func (p process) file(name string) (string, error) {
	return readFile(filepath.Join("/proc", fmt.Sprint(p.pid), name))
}

// args are its arguments, with the program's name as the first.
func (p process) args() ([]string, error) {
	text, err := p.file("cmdline")
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00"), err
}

// status has the fields of /proc/PID/status that say what a process may do.
func (p process) status() (map[string]string, error) {
	text, err := p.file("status")
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.Join(strings.Fields(value), " ")
	}
	return fields, err
}

// variable is the value of an environment variable, with its name.
func (p process) variable(name string) (string, error) {
	text, err := p.file("environ")
	for variable := range strings.SplitSeq(text, "\x00") {
		if strings.HasPrefix(variable, name+"=") {
			return variable, nil
		}
	}
	return "", err
}

// root is how its root folder is mounted: ro or rw.
func (p process) root() (string, error) {
	text, err := p.file("mountinfo")
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); fields[4] == "/" {
			mode, _, _ := strings.Cut(fields[5], ",")
			return mode, nil
		}
	}
	return "", err
}

// memoryLimit is the limit of its control group, in bytes.
func (p process) memoryLimit() (string, error) {
	text, err := p.file("cgroup")
	if err != nil {
		return "", err
	}
	unified, _ := pathOf(text, "")
	file := filepath.Join(groupsFolder, unified, "memory.max")
	if path, found := pathOf(text, "memory"); found {
		file = filepath.Join(groupsFolder, "memory", path, "memory.limit_in_bytes")
	}
	value, err := readFile(file)
	return strings.TrimSpace(value), err
}
