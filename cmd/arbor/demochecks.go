package main

import (
	"context"
	"time"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/scope"
)

// The demo's App belongs to the organization, and is installed on the greenhouse.
const demoApp = "trellis-ci"

// demoRun is a check run of the demo's App on the head of a pull request.
type demoRun struct {
	pull   int64
	took   time.Duration
	change checkrun.Change
}

func demoRuns() []demoRun {
	run := func(name string, came checkrun.Conclusion, title, summary string,
		said ...checkrun.Annotation) checkrun.Change {
		return checkrun.Change{Name: &name, Status: checkrun.Completed, Conclusion: came, Title: &title,
			Summary: &summary, Annotations: said}
	}
	say := func(line int64, level checkrun.Level, title, message string) checkrun.Annotation {
		return checkrun.Annotation{Path: "docs/sensors.txt", StartLine: line, EndLine: line, Level: level,
			Title: &title, Message: message}
	}
	unknown := say(3, checkrun.LevelFailure, "Unknown sensor",
		"There is no sensor for the humidity in the west: it stands in the east.")
	details := "sensors.txt:3: humidity west: not found\nknown: temperature east, temperature west, humidity east"
	unknown.RawDetails = &details
	return []demoRun{
		{8, 12 * time.Second, run("plan", checkrun.Success, "The plan holds water",
			"All pipes of `irrigation/plan.md` lead to a bed.")},
		{reviewed, 9 * time.Second, run("words", checkrun.Success, "All words are known",
			"**15 words** in 3 lines, *none* is unknown.")},
		{reviewed, 41 * time.Second, run("sensors", checkrun.Failure, "1 of 2 sensors is unknown",
			"**1 failure**, 1 warning and 1 notice in `docs/sensors.txt`:\n\n"+
				"| Line | Sensor | |\n| ---: | --- | --- |\n| 2 | temperature east | no unit |\n| 3 | humidity west | **unknown** |\n\n"+
				"To see the same before a push, run `trellis check docs/sensors.txt`.",
			say(1, checkrun.LevelNotice, "Not a sensor",
				"This line is read as a remark. Begin it with `#` to say so."),
			say(2, checkrun.LevelWarning, "No unit", "Say in which unit the sensor measures, °C or °F."),
			unknown)},
	}
}

// fillChecks creates an App, installs it, and lets it check heads of pull requests. Nobody gets its private key.
func (d *demo) fillChecks(ctx context.Context) error {
	s := d.store.forge(d.log)
	made, err := s.Apps.Create(ctx, demoOrg,
		app.Manifest{Name: "Trellis CI", URL: "https://trellis.example.org", Public: true,
			Description: "Checks what people propose, before it climbs.",
			Permissions: scope.Permissions{"checks": "write", "contents": "read", "pull_requests": "read",
				"statuses": "write"},
			Events: []string{"check_run", "check_suite", "pull_request", "push"}})
	if err != nil {
		return err
	}
	if _, err := s.Apps.Install(ctx, demoApp, "alice", []string{"greenhouse"}); err != nil {
		return err
	}
	bot := &account.Caller{ID: made.BotID, Login: account.BotLogin(made.Slug), App: made.ID}
	found, err := s.Repos.Find(ctx, bot, "alice", "greenhouse")
	if err != nil {
		return err
	}
	checks := checkrun.New(d.store.db, s.Repos, s.Apps)
	for _, r := range demoRuns() {
		p, _, err := s.Pulls.Find(ctx, &found.Access, r.pull)
		if err != nil {
			return err
		}
		r.change.StartedAt = db.FromTime(time.Now().Add(-r.took))
		if _, err := checks.Create(ctx, &found.Access, p.HeadSHA, &r.change); err != nil {
			return err
		}
	}
	return nil
}
