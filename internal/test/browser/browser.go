// Package browser shows pages to a real browser, for tests: DOM is a page as it is once its scripts have run;
// a Tab is one that a person works in.
package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"arbor/internal/test/testkit"
)

// DOM loads a page in headless Chromium, lets its scripts come to rest, and gives
// the document as it is then. Where there is no Chromium the test is skipped, or
// fails with ARBOR_TEST_STRICT=1.
func DOM(t testing.TB, url string) string {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			t.Fatal("chromium is not installed (apt-get install chromium)")
		}
		t.Skip("NOT TESTED: a page in a browser needs chromium (apt-get install chromium)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	// Each has its own profile. The sandbox does not work as root, and the pages are ours.
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+profile(t),
		"--virtual-time-budget=60000", "--dump-dom", url)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", program, url, err)
	}
	return string(out)
}
