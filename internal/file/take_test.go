package file

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/web"
)

// drips gives a byte each second, without an end.
type drips struct{}

func (drips) Read(b []byte) (int, error) { time.Sleep(time.Second); return 1, nil }

// An upload that is dripped ends after a time that its size allows, and that is an hour at most.
func TestUploadTime(t *testing.T) {
	const most = 2 << 30
	for size, want := range map[int64]time.Duration{1: time.Minute, 60 * uploadRate: 2 * time.Minute,
		most: maxUpload, -1: maxUpload} {
		synctest.Test(t, func(t *testing.T) {
			late, began := errors.New("late"), time.Now()
			in := Incoming{Size: size, Most: most}
			_, err := io.Copy(io.Discard, web.Timely(drips{}, began.Add(in.patience()), late))
			if took := time.Since(began); err != late || took != want {
				t.Errorf("an upload of %d bytes ends after %s, want %s: %v", size, took, want, err)
			}
		})
	}
}
