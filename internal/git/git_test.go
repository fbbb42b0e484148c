package git

import "testing"

func TestVersion(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{"git version 2.39.1": true, "git version 2.39.0": false,
		"git version 2.39.5": true, "git version 2.51.0.windows.1": true,
		"git version 3.0.0": true, "git version 2.38.9": false, "git version 1.99.1": false, "": false,
		"git version x.y": false} {
		if _, err := checkVersion(in); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, err := New(t.Context(), Options{Binary: "no-such-git"}); err == nil {
		t.Error("a missing git was found")
	}
}
