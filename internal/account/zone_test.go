package account

import (
	"slices"
	"testing"
)

// Each zone of the list can be loaded, also one with an older name that browsers send; nothing else that machines
// keep beside the zones.
func TestZones(t *testing.T) {
	t.Parallel()
	names := TimeZones()
	if len(names) < 400 || !slices.IsSorted(names[1:]) || names[0] != "UTC" {
		t.Errorf("%d names, the first is %s", len(names), names[0])
	}
	for _, name := range append(names, "Asia/Calcutta", "America/Argentina/Buenos_Aires", "Etc/GMT+5") {
		if _, ok := LoadZone(name); !ok {
			t.Errorf("%s cannot be loaded", name)
		}
	}
	for _, name := range []string{"", "Local", "localtime", "posix/Europe/Berlin", "../etc/passwd", "Europe/../../passwd",
		"/etc/localtime", "Europe", "Europe/Berlin ", "Europe/Berlin\x00", "Mars/Olympus"} {
		if _, ok := LoadZone(name); ok {
			t.Errorf("%q is a time zone", name)
		}
	}
}
