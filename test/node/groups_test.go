package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindHierarchies(t *testing.T) {
	const (
		memory  = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
		cpu     = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
		named   = "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/lib/agent,name=systemd\n"
		beside  = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		other   = "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	)
	tests := map[string]struct {
		mounts string
		want   mounted
	}{
		"each controller has one": {other + memory + cpu, mounted{all: []hierarchy{
			{"/sys/fs/cgroup/memory", "memory"}, {"/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct"},
		}}},
		"one has a name and no controller":          {named, mounted{all: []hierarchy{{"/sys/fs/cgroup/systemd", "name=systemd"}}}},
		"all share one":                             {other + unified, mounted{all: []hierarchy{{"/sys/fs/cgroup", ""}}, unified: true}},
		"the shared one beside others is of no use": {memory + beside, mounted{all: []hierarchy{{"/sys/fs/cgroup/memory", "memory"}}}},
		"none is mounted":                           {other, mounted{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := findHierarchies(test.mounts)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(mounted{}, hierarchy{})); diff != "" {
				t.Errorf("hierarchies differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathOf(t *testing.T) {
	const memberships = "9:name=systemd:/user\n4:memory:/a:b\n1:cpu,cpuacct:/c\n0::/unified\n"
	tests := map[string]struct {
		controllers, want string
		found             bool
	}{
		"of a controller, with a colon in it": {"memory", "/a:b", true},
		"of two controllers":                  {"cpu,cpuacct", "/c", true},
		"of one with a name":                  {"name=systemd", "/user", true},
		"of the shared one":                   {"", "/unified", true},
		"of one that is not there":            {"pids", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := pathOf(memberships, test.controllers)
			if got != test.want || found != test.found {
				t.Errorf("got %q, %t; want %q, %t", got, found, test.want, test.found)
			}
		})
	}
}
