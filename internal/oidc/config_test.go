package oidc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mistakes in the file are named, and an empty list of passwords is not a missing one.
func TestParse(t *testing.T) {
	t.Parallel()
	const p = "providers: [{name: a, issuer: 'https://a.example', client_id: x"
	for text, want := range map[string]string{
		"":                        "",
		p + "}]":                  "",
		"x: 1":                    "x",
		"- a":                     "",
		p + ", surprise: 1}]":     "surprise",
		p + ", accounts: merge}]": "accounts: want create or link",
		p + ", groups: {dev: [{organization: 'a b'}]}}]":                      "not the login of an organization",
		p + ", groups: {dev: [{organization: a, role: x}]}}]":                 "role: want member or owner",
		p + "}, {name: a, issuer: 'https://b.example', client_id: x}]":        "that of another one",
		"providers: [{name: A, issuer: 'https://a.example', client_id: x}]":   "lower-case",
		"providers: [{name: a, issuer: 'http://a.example', client_id: x}]":    "https address",
		"providers: [{name: a, issuer: 'https://u@a.example', client_id: x}]": "https address",
		"providers: [{name: a, issuer: 'http://127.0.0.1:1', client_id: x}]":  "",
		"providers: [{name: a, issuer: 'https://a.example'}]":                 "client_id is missing",
		"providers: [null]":       "is empty",
		"passwords: ['no login']": "not a login",
	} {
		_, err := Parse([]byte(text))
		if text == "- a" {
			if err == nil {
				t.Error("a list is no mapping")
			}
			continue
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, refuses := range map[string]bool{"": false, "passwords: []": true, "passwords: [root]": true,
		"passwords: [Bob]": false} {
		c, err := Parse([]byte(text))
		if err != nil || c.refusesPassword("bob") != refuses {
			t.Errorf("%q refuses the password of bob: %v (%v)", text, !refuses, err)
		}
	}
}

// The secret is in a file of its own, next to the file.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sign-in.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sign-in.yaml", "providers: [{name: a, issuer: 'https://a.example', client_id: x, client_secret_file: s}]")
	if _, err := ReadFile(file); err == nil {
		t.Error("the secret is missing")
	}
	write("s", "\n")
	if _, err := ReadFile(file); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty secret: %v", err)
	}
	write("s", "hidden\n")
	if c, err := ReadFile(file); err != nil || c.Providers[0].secret != "hidden" {
		t.Errorf("%+v %v", c, err)
	}
}

// Whatever the file holds is a configuration or an error.
func FuzzParse(f *testing.F) {
	f.Add("providers: [{name: a, issuer: 'https://a.example', client_id: x, groups: {dev: [{organization: a}]}}]")
	f.Add("passwords: []")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, p := range c.Providers {
			i := p.identity("s", map[string]any{p.LoginClaim: text, p.GroupsClaim: []any{text, 1}})
			if login, err := i.login(); err == nil && login == "" {
				t.Error("an empty login")
			}
			i.wanted()
		}
	})
}
