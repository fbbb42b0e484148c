package signinfile

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
		"providers: [null]":                                "is empty",
		"passwords: ['no login']":                          "not a login",
		p + ", scim: {account: bot}}]":                     "",
		p + ", scim: {}}]":                                 "want the login of the site administrator",
		"provisioners: [{name: hr, scim: {account: bot}}]": "",
		"provisioners: [{name: hr}]":                       "scim is missing",
		"provisioners: [null]":                             "is empty",
		"provisioners: [{name: hr, accounts: link, scim: {account: bot}}]":                             "want create",
		"provisioners: [{name: a, scim: {account: bot}}, {name: b, scim: {account: Bot}}]":             "that of another one",
		"directories: [{name: a, servers: ['ldaps://a.example'], base: 'dc=a', scim: {account: bot}}]": "is for providers",
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
	for text, everybody := range map[string]bool{"": true, "passwords: []": false, "passwords: [root]": false} {
		c, err := Parse([]byte(text))
		if err != nil || c.Passwords == nil != everybody {
			t.Errorf("%q: %v (%v)", text, c, err)
		}
	}
}

// Mistakes in a directory are named, above all those that would send passwords in the clear or to nobody.
func TestParseDirectories(t *testing.T) {
	t.Parallel()
	const head = "directories: [{name: a, "
	const d = head + "servers: ['ldaps://a.example'], base: 'dc=example'"
	for text, want := range map[string]string{
		d + "}]":                                                                         "",
		d + ", bind_dn: 'cn=x'}]":                                                        "needs bind_password_file",
		d + ", filter: '(uid=x'}]":                                                       "is not a filter",
		d + ", filter: 'uid=x)(a=*'}]":                                                   "is not a filter",
		d + ", login_attribute: 'a)(b'}]":                                                "is not the name of an attribute",
		d + ", groups_by: luck}]":                                                        "groups_by: want",
		d + ", compare: hourly}]":                                                        "compare: want",
		d + ", suspend_at_most: 101}]":                                                   "1 to 100",
		d + ", administrators: [ops]}]":                                                  "with group_base",
		d + ", group_base: 'ou=g', administrators: [ops]}]":                              "",
		d + ", groups: {'cn=x,ou=g': [{organization: a}]}}]":                             "",
		d + ", groups: {'cn=x,,': [{organization: a}]}}]":                                "is not a DN",
		d + ", groups_by: member, groups: {'cn=x': [{organization: a}]}}]":               "group_base is missing",
		d + "}, {name: a, servers: ['ldaps://b.example'], base: 'dc=b'}]":                "that of another one",
		head + "base: 'dc=example'}]":                                                    "servers: want",
		head + "servers: ['ldaps://a.example']}]":                                        "base is missing",
		head + "servers: ['ldap://a.example'], base: 'dc=a'}]":                           "in the clear",
		head + "servers: ['ldap://a.example'], start_tls: true, base: 'dc=a'}]":          "",
		head + "servers: ['ldap://127.0.0.1'], base: 'dc=a'}]":                           "",
		head + "servers: ['ldaps://a.example'], start_tls: true, base: 'dc=a'}]":         "begins with TLS",
		head + "servers: ['http://a.example'], base: 'dc=a'}]":                           "must be ldaps",
		"directories: [null]":                                                            "is empty",
		"providers: [{name: a, issuer: 'https://a.example', client_id: x}]\n" + d + "}]": "that of another one",
	} {
		_, err := Parse([]byte(text))
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
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
	if c, err := ReadFile(file); err != nil || len(c.Sources()) != 1 {
		t.Errorf("%+v %v", c, err)
	}
	write("sign-in.yaml", "directories: [{name: a, servers: ['ldaps://a.example'], base: 'dc=a', ca_file: s}]")
	if _, err := ReadFile(file); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("a file without a certificate: %v", err)
	}
}

// Whatever the file holds is a configuration or an error.
func FuzzParse(f *testing.F) {
	f.Add("providers: [{name: a, issuer: 'https://a.example', client_id: x, groups: {dev: [{organization: a}]}}]")
	f.Add("directories: [{name: a, servers: ['ldaps://a.example'], base: 'dc=a', group_base: 'ou=b', administrators: [x]}]")
	f.Add("passwords: []")
	f.Add("provisioners: [{name: hr, scim: {account: bot, administrator_roles: true}, administrators: [x]}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, source := range c.Sources() {
			if source.Issuer == "" || source.Way == "" {
				t.Errorf("%q has no issuer, or no way", source.Name)
			}
		}
	})
}
