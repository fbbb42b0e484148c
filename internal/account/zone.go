package account

import (
	"context"
	_ "embed" // the names of zones
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // the zones, where the machine has none

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// zones are the names that the zones of the world have today, one a line, of the time zone database.
//
//go:embed zones.txt
var zones string

// TimeZones are the names of the time zones among which people choose.
func TimeZones() []string { return strings.Fields(zones) }

// zoneName is what names of time zones look like. Browsers have older names, too: Asia/Calcutta.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,31}){0,2}$`)

// LoadZone returns the time zone of a name, such as Europe/Berlin. ok is false if there is none.
func LoadZone(name string) (zone *time.Location, ok bool) {
	if !zoneName.MatchString(name) || name == "Local" {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// SetTimeZone sets the time zone in which pages show times to the caller; empty: that of the browser. Error: 422.
func (s *Service) SetTimeZone(ctx context.Context, caller *Caller, name string) error {
	if _, ok := LoadZone(name); !ok && name != "" {
		f := web.Faults{Resource: userResource}
		f.Wrong("time_zone", errs.InvalidField, "choose a time zone of the list")
		return f.Err()
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		changed, err := setTimeZone(tx, caller.ID, name)
		if err != nil || !changed {
			return err
		}
		a, err := ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		return Record(tx, audit.UserUpdate, a, audit.Self, map[string]any{"fields": []string{"time_zone"}})
	})
}
