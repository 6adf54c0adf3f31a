package localcluster

import (
	"net"
	"slices"
	"testing"
)

func TestFreePortsAreDifferentAndFree(t *testing.T) {
	ports, err := freePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	if len(ports) != 50 {
		t.Fatalf("got %d ports, want 50", len(ports))
	}
	slices.Sort(ports)
	if unique := slices.Compact(slices.Clone(ports)); len(unique) != len(ports) {
		t.Errorf("a port was given twice: %v", ports)
	}
	for _, port := range ports {
		if port < firstPort || port > lastPort {
			t.Errorf("port %d is outside of %d to %d", port, firstPort, lastPort)
		}
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	second, err := listen(taken)
	if err != nil {
		t.Fatal(err)
	}
	if second != nil {
		second.Close()
		t.Errorf("port %d counts as free although somebody listens there", taken)
	}
}
