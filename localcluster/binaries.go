package localcluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"controller-manager/localcluster/internal/filelock"
)

// Binaries says where the executables are, by the name of the component; Kubectl
// is among them.
type Binaries map[string]string

// Build returns the executables of all components and kubectl, and builds those
// that are missing, with a line for each to log (nil: no lines). They are kept in
// the user's cache folder, under a name made from everything that goes into them,
// so that all clones of the project share them. Building all takes minutes; it
// needs the go command, and a module proxy the first time.
func Build(ctx context.Context, log func(format string, args ...any)) (Binaries, error) {
	return build(ctx, log, toolModules())
}

// BuildOnDemand is Build for a program that no cluster needs: Kubeadm and those that follow it
// among the constants. It returns the path of the executable.
func BuildOnDemand(ctx context.Context, name string, log func(format string, args ...any)) (string, error) {
	var known []string
	for _, module := range toolModules() {
		for _, tool := range module.onDemand {
			known = append(known, tool.name)
			if tool.name != name {
				continue
			}
			module.programs = []program{tool}
			binaries, err := build(ctx, log, []toolModule{module})
			return binaries[name], err
		}
	}
	return "", fmt.Errorf("building %s: there is no such program; there are %s", name, strings.Join(known, ", "))
}

func build(ctx context.Context, log func(format string, args ...any), modules []toolModule) (Binaries, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("finding the folder for built programs (set HOME): %w", err)
	}
	tools, err := toolsFolder()
	if err != nil {
		return nil, err
	}
	platform, err := goCommand(ctx, tools, "", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return nil, err
	}
	binaries := Binaries{}
	for _, module := range modules {
		b := builder{module: module, folder: filepath.Join(tools, module.folder), log: Options{Log: log}.logf}
		if err := b.readModule(cache, platform); err != nil {
			return nil, err
		}
		if err := b.buildMissing(ctx); err != nil {
			return nil, err
		}
		for _, program := range module.programs {
			binaries[program.name] = b.path(program)
		}
	}
	return binaries, nil
}

// toolsFolder finds the tool modules beside this source file, where the compiler
// saw it. They cannot be embedded, because modules inside a module are no part of
// it; and a path from the working directory would be another one for each
// program and test that uses the package.
func toolsFolder() (string, error) {
	_, source, _, _ := runtime.Caller(0)
	tools := filepath.Join(filepath.Dir(source), "tools")
	if _, err := os.Stat(tools); err != nil {
		return "", fmt.Errorf("finding the sources of the local cluster's programs (build this program again, in the clone where it is used, and without -trimpath): %w", err)
	}
	return tools, nil
}

// builder builds the programs of one module.
type builder struct {
	module  toolModule
	folder  string // of the module
	version string
	flags   string
	target  string // folder of the executables
	log     func(format string, args ...any)
}

// readModule finds out what would be built, and where that is kept.
func (b *builder) readModule(cache, platform string) error {
	goMod, err := os.ReadFile(filepath.Join(b.folder, "go.mod"))
	if err != nil {
		return fmt.Errorf("reading a tool module: %w", err)
	}
	goSum, err := os.ReadFile(filepath.Join(b.folder, "go.sum"))
	if err != nil {
		return fmt.Errorf("reading a tool module: %w", err)
	}
	if b.version, err = requiredVersion(goMod, b.module.source); err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(b.folder, "go.mod"), err)
	}
	b.flags = b.module.linkFlags(b.version)
	hash := sha256.Sum256(bytes.Join([][]byte{[]byte(platform), []byte(b.flags), goMod, goSum}, []byte{0}))
	b.target = filepath.Join(cache, "controller-manager", fmt.Sprintf("%s-%x", b.module.folder, hash[:12]))
	return nil
}

// requiredVersion is the version of a module that a go.mod file requires.
func requiredVersion(goMod []byte, module string) (string, error) {
	for line := range strings.Lines(string(goMod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("it does not require %s", module)
}

func (b *builder) path(program program) string {
	return filepath.Join(b.target, program.name)
}

// buildMissing builds what is not there yet. Of several processes that find the
// same missing, one builds and the others wait for it.
func (b *builder) buildMissing(ctx context.Context) error {
	if len(b.missing()) == 0 {
		return nil
	}
	if err := os.MkdirAll(b.target, 0o750); err != nil {
		return fmt.Errorf("making the folder for built programs: %w", err)
	}
	lock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the end of the process gives it back at the latest
	for _, program := range b.missing() {
		if err := b.build(ctx, program); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) lock(ctx context.Context) (*os.File, error) {
	path := filepath.Join(b.target, ".lock")
	lock, err := filelock.Try(path)
	if !errors.Is(err, filelock.ErrHeld) {
		return lock, err
	}
	b.log("waiting for another process, which builds %s", b.module.folder)
	return lock, waitFor(ctx, "the lock "+path, func(context.Context) error {
		lock, err = filelock.Try(path)
		return err
	})
}

func (b *builder) missing() []program {
	var missing []program
	for _, program := range b.module.programs {
		if _, err := os.Stat(b.path(program)); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}

// build makes one program under another name and renames it when it is whole.
func (b *builder) build(ctx context.Context, program program) error {
	began := time.Now()
	b.log("building %s %s, which may take some minutes", program.name, b.version)
	// A go command that is interrupted early leaves its folder behind.
	temporary, err := os.MkdirTemp("", "localcluster-build-")
	if err != nil {
		return fmt.Errorf("making a temporary folder for the build: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	partial := b.path(program) + ".partial"
	command := []string{"build", "-ldflags", b.flags, "-o", partial, program.path}
	if _, err := goCommand(ctx, b.folder, "GOTMPDIR="+temporary, command...); err != nil {
		return fmt.Errorf("building %s: %w", program.name, err)
	}
	if err := os.Rename(partial, b.path(program)); err != nil {
		return fmt.Errorf("putting %s in its place: %w", program.name, err)
	}
	b.log("built %s %s in %.0f s", program.name, b.version, time.Since(began).Seconds())
	return nil
}

// goCommand runs the go command in a folder, with one variable more or "", and
// returns what it prints.
func goCommand(ctx context.Context, folder, variable string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are ours
	cmd.Dir = folder
	// Programs without C run on every machine of the platform.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", variable)
	// The group is the go command with its compilers, which would go on without it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = stopGrace
	var output, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problems
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("running go (install Go 1.26 or newer and put it on PATH): %w", err)
	case ctx.Err() != nil:
		return "", fmt.Errorf("running go %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("running go %s in %s: %w: %s", args[0], folder, err, bytes.TrimSpace(problems.Bytes()))
	}
	return output.String(), nil
}
