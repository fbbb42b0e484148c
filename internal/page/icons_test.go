package page

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// Templates and the script use the icons of one file, and it has no others.
func TestIconsAreOneSet(t *testing.T) {
	t.Parallel()
	const set = "templates/icons.html"
	var sources []string
	for _, pattern := range []string{"templates/*.html", "*/templates/*.html", "*/*/templates/*.html", "assets/*.js"} {
		names, err := filepath.Glob(pattern)
		testkit.NoError(t, err)
		sources = append(sources, names...)
	}
	define := regexp.MustCompile(`\{\{define "(icon-[^"]+)"`)
	use := regexp.MustCompile(`\{\{(?:template ")?(icon-[a-z-]+)"?\}\}`)
	defined, used := map[string]bool{}, map[string]bool{}
	for _, name := range sources {
		data, err := os.ReadFile(name)
		testkit.NoError(t, err)
		for _, m := range use.FindAllStringSubmatch(string(data), -1) {
			used[m[1]] = true
		}
		if name == set {
			for _, m := range define.FindAllStringSubmatch(string(data), -1) {
				defined[m[1]] = true
			}
			continue
		}
		if m := define.FindString(string(data)); m != "" || strings.Contains(string(data), `<svg class="icon`) {
			t.Errorf("%s draws an icon, which icons.js in the folder lib should name: %s", name, m)
		}
	}
	if len(defined) < 40 || len(sources) < 100 {
		t.Fatalf("%d icons in %d files", len(defined), len(sources))
	}
	got, want := slices.Sorted(maps.Keys(defined)), slices.Sorted(maps.Keys(used))
	if !slices.Equal(got, want) {
		t.Errorf("the set has\n%q, and pages use\n%q", got, want)
	}
}

// A state has an icon of its own, which is the same in heads, rows and timelines.
func TestStatesHaveOneIcon(t *testing.T) {
	t.Parallel()
	pull := &struct{ MergedAt time.Time }{}
	merged := &struct{ MergedAt time.Time }{time.Now()}
	type event struct{ Event, StateReason string }
	states := []struct {
		icon  string
		class string // of the event
		issue Issue
		event event
	}{
		{"icon-issue", "reopened", Issue{State: "open"}, event{"reopened", ""}},
		{"icon-done", "closed", Issue{State: "closed", StateReason: "completed"}, event{"closed", "completed"}},
		{"icon-done", "closed", Issue{State: "closed"}, event{"closed", ""}},
		{"icon-skip", "closed not planned", Issue{State: "closed", StateReason: "not_planned"},
			event{"closed", "not_planned"}},
		{"icon-pull", "reopened pull", Issue{State: "open", Pull: pull}, event{"reopened", ""}},
		{"icon-draft", "convert_to_draft pull", Issue{State: "open", Draft: true, Pull: pull},
			event{"convert_to_draft", ""}},
		{"icon-pull-closed", "closed pull", Issue{State: "closed", Pull: pull}, event{"closed", ""}},
		{"icon-pull-closed", "closed pull", Issue{State: "closed", Draft: true, Pull: pull}, event{"closed", ""}},
		{"icon-merge", "merged pull", Issue{State: "closed", Pull: merged}, event{"merged", ""}},
	}
	for _, s := range states {
		icon := said(t, s.icon, nil)
		class := s.issue.Status()
		if s.issue.IsPull() {
			class += " pull"
		}
		for _, name := range []string{"state", "mark"} {
			want := fmt.Sprintf("class=%q", name+" "+class)
			got := said(t, name, &s.issue)
			if !strings.Contains(got, want) || strings.Count(got, "<svg") != 1 || !strings.Contains(got, icon) {
				t.Errorf("%s of %s: %s, want %s and %s", name, class, got, want, s.icon)
			}
		}
		view := map[string]any{"Entry": s.event, "Thread": map[string]any{"Issue": &s.issue}}
		if got := said(t, "talk-icon", view); !strings.Contains(got, `class="dot `+s.class+`"`) ||
			!strings.Contains(got, icon) {
			t.Errorf("the event %s: %s, want %s and %s", s.event.Event, got, s.class, s.icon)
		}
	}
}

// said is what a shared template makes of a view.
func said(t *testing.T, name string, view any) string {
	t.Helper()
	var b strings.Builder
	testkit.NoError(t, plain().ExecuteTemplate(&b, name, view))
	return b.String()
}
