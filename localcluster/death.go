package localcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 5
	// tailBytes is how much of the end of a log is read to find those lines, and
	// to find out why a component died.
	tailBytes = 64 << 10
)

// DeathError says that a process ended although nobody had asked it to.
type DeathError struct {
	// Name is the process's name, for example "etcd".
	Name string
	// State says how it ended: exit code or signal.
	State *os.ProcessState
	// LogPath is its log file.
	LogPath string
	// Log is the end of what the run wrote there, at most 64 KiB.
	Log string
}

// Error names the process, how it ended, its log and the log's last lines.
func (e *DeathError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.Log), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("%s ended by itself (%s); the end of its log %s:\n  %s",
		e.Name, e.State, e.LogPath, strings.Join(lines, "\n  "))
}

// readEnd returns the end of a file, at most tailBytes and nothing from before
// the offset start; empty if it cannot be read.
func readEnd(path string, start int64) string {
	file, err := os.Open(path) //nolint:gosec // a log of ours
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.NewSectionReader(file, max(start, size-tailBytes), tailBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// lostPort says that err is the death of a process because another program had
// taken its port.
func lostPort(err error) bool {
	var death *DeathError
	return errors.As(err, &death) && strings.Contains(death.Log, "address already in use")
}
