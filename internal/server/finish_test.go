package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/journal"
	"arbor/internal/server"
	"arbor/internal/web"
)

// What the end of each request costs, most of it its line of the log: as the
// program logs, and beside it as slog does, with a write for each line. Writing
// what was gathered is counted too: it is waited for before there is more of it
// than there would be in a server.
func BenchmarkFinish(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	to := &rewound{File: file}
	for _, c := range []struct {
		name string
		log  slog.Handler
	}{
		{"text", journal.Text(to, slog.LevelInfo)}, {"text, each line written", slog.NewTextHandler(to, nil)},
		{"JSON", journal.JSON(to, slog.LevelInfo)}, {"JSON, each line written", slog.NewJSONHandler(to, nil)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, recorder := server.Logging(slog.New(c.log)), httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/repos/alice/garden/issues", nil)
			info := &web.Info{ID: "5f1e2d3c4b-0000000012ab", Pattern: "/repos/{owner}/{repo}/issues", Who: "alice"}
			w := &web.Writer{ResponseWriter: recorder, Status: http.StatusOK, Bytes: 12345}
			gathered, _ := c.log.(*journal.Handler)
			b.ReportAllocs()
			for n := 1; b.Loop(); n++ {
				if s.Finish(w, r, info, time.Now()); n%200 == 0 && gathered != nil {
					gathered.Flush()
				}
			}
		})
	}
}

// rewound is a file that begins anew before it is large, so that a benchmark does
// not wait for the disk.
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
