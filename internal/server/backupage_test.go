package server_test

import (
	"io"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"

	"arbor/internal/backup"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

var backupAge = regexp.MustCompile(`(?m)^arbor_backup_age_seconds (\S+)$`)

// An alarm on the age of the backup fires where there never was one, and not after one was made.
func TestAgeOfTheBackup(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		age := func() string {
			var found []string
			testkit.Eventually(t, func() bool { // it is left out if the database takes long
				w := httptest.NewRecorder()
				s.Server.Admin().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
				found = backupAge.FindStringSubmatch(w.Body.String())
				return found != nil
			}, "the age of the backup")
			return found[1]
		}
		if got := age(); got != "+Inf" {
			t.Errorf("without a backup: %s", got)
		}
		if _, err := backup.ToStream(t.Context(), backup.Source{DB: s.DB, Folder: s.Dir}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if got, err := strconv.ParseFloat(age(), 64); err != nil || got < 0 || got > 3600 {
			t.Errorf("after a backup: %v, %v", got, err)
		}
	})
}
