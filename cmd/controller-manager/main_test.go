package main

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// argsVariable makes the test binary be the program, with the arguments it holds.
const argsVariable = "CONTROLLER_MANAGER_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(argsVariable); args != "" {
		os.Args = append(os.Args[:1], strings.Fields(args)...)
		main()
	}
	os.Exit(m.Run())
}

// child is the program in a process of its own.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), argsVariable+"="+strings.Join(args, " "))
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stderr)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() }) // nearly always it has ended
	return c
}

// awaitLine reads the log up to a line with the text.
func (c *child) awaitLine(text string) {
	c.t.Helper()
	for c.lines.Scan() {
		if strings.Contains(c.lines.Text(), text) {
			return
		}
	}
	c.t.Fatalf("the log ended without a line with %q", text)
}

// signal sends a signal.
func (c *child) signal(signal os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(signal); err != nil {
		c.t.Fatal(err)
	}
}

// exitCode waits for the end.
func (c *child) exitCode() int {
	c.t.Helper()
	for c.lines.Scan() { // to the end of the log
	}
	_ = c.cmd.Wait() // an exit code other than 0 is no failure here
	return c.cmd.ProcessState.ExitCode()
}

// nowhere is an address at which no API server is. The program waits for it.
const nowhere = "--master=https://127.0.0.1:1"

func TestASignalEndsTheProgramInOrder(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			c := start(t, nowhere, "--secure-port=0")
			c.awaitLine("Waiting for the API server")
			c.signal(signal)
			if code := c.exitCode(); code != 0 {
				t.Errorf("got exit code %d, want 0", code)
			}
		})
	}
}

// The orderly end waits for requests under way, such as this profile, for two seconds.
func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	c := start(t, nowhere, "--secure-port="+port, "--profiling", "--authorization-always-allow-paths=/debug/*")
	c.awaitLine("Waiting for the API server")
	conn, err := tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1/debug/pprof/trace?seconds=30", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the trace has begun
		t.Fatal(err)
	}
	c.signal(syscall.SIGTERM)
	c.signal(os.Interrupt)
	c.awaitLine("Told to stop a second time")
	if code := c.exitCode(); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
}

func TestASignalThatIsSentTwiceInARowIsMeantOnce(t *testing.T) {
	c := start(t, nowhere, "--secure-port=0")
	c.awaitLine("Waiting for the API server")
	for range 3 {
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended in good order already
	}
	if code := c.exitCode(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

func TestABadCommandLineIsExitCode2(t *testing.T) {
	c := start(t, "--frobnicate")
	c.awaitLine("--frobnicate")
	if code := c.exitCode(); code != 2 {
		t.Errorf("got exit code %d, want 2", code)
	}
}
