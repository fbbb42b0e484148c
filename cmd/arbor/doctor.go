package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/doctor"
	"arbor/internal/external"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/signinfile"
)

// doctorCommand takes the flags of serve, so that it reports on the settings that the server uses.
type doctorCommand struct {
	serveCommand
	JSON bool `name:"json" help:"Print the report as JSON."`
}

// Run writes the report, with a server running on the store or not.
func (c *doctorCommand) Run(p *process, k *kong.Context) error {
	folder, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	o := doctor.Options{Version: version, Folder: folder, Memory: admission.MachineMemory(),
		Settings: inForce(k)}
	o.Cause = func(check string, err error) {
		fmt.Fprintf(p.stderr, "not in the report: %s: %v\n", check, err)
	}
	o.Open = func(ctx context.Context) (*db.DB, *git.Git, func() error, error) {
		if err := c.exists(); err != nil {
			return nil, nil, nil, err
		}
		s, err := c.open(ctx, git.Options{Log: slog.New(journal.Text(p.stderr, slog.LevelError))})
		if err != nil {
			return nil, nil, nil, err
		}
		return s.db, s.git, s.close, nil
	}
	if c.SignInFile != "" {
		o.Providers = func(ctx context.Context) (map[string]error, error) { return checkProviders(ctx, c.SignInFile) }
		o.Directories = func(ctx context.Context) (map[string]error, error) { return checkDirectories(ctx, c.SignInFile) }
		o.Provisioners = func() ([]*external.Source, error) {
			config, err := signinfile.ReadFile(c.SignInFile)
			if err != nil {
				return nil, err
			}
			return config.Provisioned(), nil
		}
	}
	if err := c.checkMail(c.BaseURL); err != nil {
		o.Mail = func(context.Context) error { return err }
	} else if c.mail != nil {
		o.Mail = c.mail.Check
	}
	report := doctor.Run(p.ctx, o)
	if c.JSON {
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		err = printDoctor(p.stdout, report)
	}
	if err == nil && !report.Sound() {
		err = &exitStatus{statusUnsound}
	}
	return err
}

// checkProviders asks the identity providers of a file whether people can sign in with them.
func checkProviders(ctx context.Context, file string) (map[string]error, error) {
	config, err := signinfile.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := map[string]error{}
	for _, provider := range config.Providers {
		found[provider.Name] = provider.Check(ctx)
	}
	return found, nil
}

// checkDirectories asks the directories of a file whether people can sign in with them.
func checkDirectories(ctx context.Context, file string) (map[string]error, error) {
	config, err := signinfile.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := map[string]error{}
	for _, d := range config.Directories {
		found[d.Name] = d.Check(ctx)
	}
	return found, nil
}

// inForce are the settings: numbers, sizes, switches and choices as they are; of free texts, which
// may hold passwords, names and addresses, only whether they were set.
func inForce(k *kong.Context) map[string]string {
	list := map[string]string{}
	for _, f := range k.Flags() {
		value := k.FlagValue(f)
		if f.Name == "help" || f.Name == "json" || f.Name == "version" || value == nil {
			continue
		}
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
			value = ""
		}
		kind := reflect.TypeOf(value).Kind()
		text := fmt.Sprint(value)
		switch {
		case f.Enum != "", kind == reflect.Bool, kind == reflect.Int, kind == reflect.Int64:
		case text == "" || text == "[]":
			text = "(not set)"
		case text == f.Default:
			text = "(default)"
		default:
			text = "(set)"
		}
		list[f.Name] = text
	}
	return list
}

// printDoctor writes a line for each check and each setting.
func printDoctor(w io.Writer, r *doctor.Report) error {
	var all error
	line := func(format string, args ...any) {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		all = errors.Join(all, err)
	}
	for _, c := range r.Checks {
		line("%-4s  %s: %s", c.Status, c.Name, c.Found)
		if c.Advice != "" {
			line("      %s", c.Advice)
		}
	}
	line("settings:")
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		line("      %s: %s", name, r.Settings[name])
	}
	return all
}
