package file

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// drips gives so many bytes each second, without an end.
type drips int

func (d drips) Read([]byte) (int, error) { time.Sleep(time.Second); return int(d), nil }

// An upload that is dripped ends after a minute, whatever size it announced, since others wait for its place.
// One that is faster may take longer, and an hour at most.
func TestUploadTime(t *testing.T) {
	for rate, want := range map[drips]time.Duration{0: time.Minute, uploadRate / 2: 2 * time.Minute,
		uploadRate: maxUpload, 2 * uploadRate: maxUpload} {
		synctest.Test(t, func(t *testing.T) {
			late, began := errors.New("late"), time.Now()
			_, err := io.Copy(io.Discard, onTime(rate, maxUpload, late))
			if took := time.Since(began); err != late || took != want {
				t.Errorf("an upload of %d bytes a second ends after %s, want %s: %v", rate, took, want, err)
			}
		})
	}
}
