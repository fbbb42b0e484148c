package testkit

import (
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen: far longer than a busy machine needs. How fast
// something is, no test judges.
const Patience = 5 * time.Minute

// Eventually waits until holds says so, and asks a little less often the longer it takes. Where that does not
// come within Patience, the test ends and says what was waited for, and what is seen at that time.
func Eventually(t testing.TB, holds func() bool, what string, seen ...func() string) {
	t.Helper()
	for began := time.Now(); !holds(); {
		waited := time.Since(began)
		if waited > Patience {
			texts := []string{what}
			for _, s := range seen {
				texts = append(texts, s())
			}
			t.Fatalf("this does not come: %s", strings.Join(texts, "\n"))
		}
		time.Sleep(min(5*time.Millisecond+waited/100, 20*time.Millisecond))
	}
}
