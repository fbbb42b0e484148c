package server_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/server"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// An operator learns why an answer broke off, though it had begun as a good one.
func TestBrokenOffIsLogged(t *testing.T) {
	for _, c := range []struct {
		status int
		note   error
		want   string
	}{
		{200, nil, "level=INFO msg=request status=200"},
		{200, errors.New("the disk is gone"), `level=ERROR msg=request status=200 error="the disk is gone"`},
		{200, errs.New(errs.Canceled, "hung up"), `level=INFO msg=request status=200 error="hung up"`},
		{0, errs.New(errs.Canceled, "hung up"), `level=INFO msg=request status=499 error="hung up"`},
		{404, errs.Absent(), `level=INFO msg=request status=404 error="Not Found"`},
		{500, errors.New("the disk is gone"), `level=ERROR msg=request status=500 error="the disk is gone"`},
	} {
		var text strings.Builder
		s := server.Logging(slog.New(slog.NewTextHandler(&text, nil)))
		s.Finish(&web.Writer{ResponseWriter: httptest.NewRecorder(), Status: c.status},
			httptest.NewRequest("GET", "/", nil), &web.Info{Note: c.note}, time.Now())
		got := regexp.MustCompile(`(level|msg|status|error)=("[^"]*"|\S+)`).FindAllString(text.String(), -1)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q, not %q: %s", got, c.want, &text)
		}
	}
}

// The cost of finishing a request, which is mostly its log line.
func BenchmarkFinish(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "log"))
	testkit.NoError(b, err)
	defer file.Close()
	to := &rewound{File: file}
	for _, c := range []struct {
		name string
		log  slog.Handler
	}{
		{"text", journal.Text(to, slog.LevelInfo)}, {"JSON", journal.JSON(to, slog.LevelInfo)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, recorder := server.Logging(slog.New(c.log)), httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/repos/alice/garden/issues", nil)
			info := &web.Info{ID: "5f1e2d3c4b-0000000012ab", Pattern: "/repos/{owner}/{repo}/issues",
				Who: "alice"}
			w := &web.Writer{ResponseWriter: recorder, Status: http.StatusOK, Bytes: 12345}
			b.ReportAllocs()
			for b.Loop() {
				s.Finish(w, r, info, time.Now())
			}
		})
	}
}

// rewound is a file that starts over before it gets large, so that a benchmark does not wait for the disk.
type rewound struct {
	*os.File
	size int
}

func (r *rewound) Write(p []byte) (int, error) {
	if r.size += len(p); r.size > 4<<20 {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		r.size = len(p)
	}
	return r.File.Write(p)
}
