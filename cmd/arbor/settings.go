package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"
)

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 1 << 20

// settingsFile is what files say in place of flags: a YAML mapping from the names of serve's
// flags to their values. Flags and the environment come first. Other commands take those of
// their flags that are serve's, too.
type settingsFile struct {
	known  []*kong.Flag // those of serve
	system string       // the system's file; empty: none
	values map[string]string
	err    error // why the file cannot be used
	loaded bool
}

// newSettings finds serve's flags in the model of the command line.
func newSettings(model *kong.Application, system string) *settingsFile {
	s := &settingsFile{system: system}
	for _, command := range model.Children {
		if command.Name == "serve" {
			s.known = slices.DeleteFunc(slices.Clone(command.Flags),
				func(f *kong.Flag) bool { return f.Name == "help" })
		}
	}
	return s
}

// ignoreEmpty takes variables of the environment that are set to nothing as not set.
func ignoreEmpty(n *kong.Node) {
	empty := func(name string) bool {
		value, set := os.LookupEnv(name)
		return set && value == ""
	}
	for _, f := range n.Flags {
		f.Envs = slices.DeleteFunc(slices.Clone(f.Envs), empty)
		f.Tag.Envs = slices.DeleteFunc(slices.Clone(f.Tag.Envs), empty)
	}
	for _, child := range n.Children {
		ignoreEmpty(child)
	}
}

// unknownVariables are the variables of the environment that begin with ARBOR_ and are those of no flag, sorted.
// Variables of tests are left out.
func unknownVariables(model *kong.Node, environment []string) []string {
	known := map[string]bool{}
	var collect func(n *kong.Node)
	collect = func(n *kong.Node) {
		for _, f := range n.Flags {
			for _, name := range f.Tag.Envs {
				known[name] = true
			}
		}
		for _, child := range n.Children {
			collect(child)
		}
	}
	collect(model)
	var unknown []string
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "ARBOR_") && !strings.HasPrefix(name, "ARBOR_TEST_") && !known[name] && value != "" {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// Validate is kong.Resolver's.
func (s *settingsFile) Validate(*kong.Application) error { return nil }

// Resolve is kong.Resolver's: what the file says of a flag that the command line does not have.
// It returns no error, since kong would blame the flag; run checks for it.
func (s *settingsFile) Resolve(c *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !s.loaded {
		s.loaded = true
		s.values, s.err = s.find(c)
	}
	same := s.flag(flag.Name)
	value, said := s.values[flag.Name]
	if !said || same == nil || same.Help != flag.Help {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	return value, nil
}

// configFile is the file that --config or the environment names.
func configFile(c *kong.Context) string {
	for _, f := range c.Model.Flags {
		if f.Name != "config" {
			continue
		}
		if file, _ := c.FlagValue(f).(string); file != "" {
			return file
		}
		for _, name := range f.Envs {
			if file := os.Getenv(name); file != "" {
				return file
			}
		}
	}
	return ""
}

func (s *settingsFile) flag(name string) *kong.Flag {
	i := slices.IndexFunc(s.known, func(f *kong.Flag) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return s.known[i]
}

// load reads a file. Its errors name the file, and the line where there is one.
func (s *settingsFile) load(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSettings {
		return nil, fmt.Errorf("%s: it is larger than %d bytes", file, maxSettings)
	}
	values, err := s.parse(text)
	if at, ok := errors.AsType[*lineError](err); ok {
		return nil, fmt.Errorf("%s:%d: %s", file, at.line, at.problem)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return values, nil
}

// lineError is what is wrong in a line.
type lineError struct {
	line    int
	problem string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.problem) }

// parse reads settings, and checks each value as its flag would.
func (s *settingsFile) parse(text []byte) (map[string]string, error) {
	values := map[string]string{}
	if saysNothing(string(text)) {
		return values, nil
	}
	var root yaml.Node
	err := yaml.Load(text, &root)
	var at *yaml.LoadError
	switch {
	case errors.As(err, &at):
		return nil, &lineError{at.Mark.Line, "not valid YAML: " + strings.TrimPrefix(at.Message, "yaml: ")}
	case err != nil:
		return nil, errors.New("it is not one document of YAML")
	}
	if root.Kind == 0 || root.Kind == yaml.DocumentNode && len(root.Content) == 0 {
		return values, nil // only comments
	}
	top := &root
	if top.Kind == yaml.DocumentNode {
		top = top.Content[0]
	}
	if top.Kind == yaml.ScalarNode && top.ShortTag() == "!!null" {
		return values, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, &lineError{top.Line, "settings are lines like: listen: 127.0.0.1:8080"}
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		flag := s.flag(key.Value)
		if key.Kind != yaml.ScalarNode || flag == nil {
			named := ""
			if keyForm.MatchString(key.Value) { // else it may be a value, and secret
				named = fmt.Sprintf(" %q", key.Value)
			}
			return nil, &lineError{key.Line,
				fmt.Sprintf("unknown key%s: keys are the flags of arbor serve, without --", named)}
		}
		if _, twice := values[flag.Name]; twice {
			return nil, &lineError{key.Line, fmt.Sprintf("%s stands here twice", flag.Name)}
		}
		text, err := textOf(flag, value)
		if err == nil {
			err = tryValue(flag, text)
		}
		if err != nil {
			return nil, &lineError{value.Line, fmt.Sprintf("%s: %v", flag.Name, err)}
		}
		values[flag.Name] = text
	}
	return values, nil
}

// saysNothing reports whether a text has only blank lines and comments, and so is not a YAML document.
func saysNothing(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// textOf is a value as the flag would be given it.
func textOf(flag *kong.Flag, n *yaml.Node) (string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return "", errors.New("it has no value; leave it out for the default")
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	case n.Kind == yaml.SequenceNode && flag.IsSlice():
		list := make([]string, len(n.Content))
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode || strings.Contains(item.Value, ",") {
				return "", errors.New("a list holds single values")
			}
			list[i] = item.Value
		}
		return strings.Join(list, ","), nil
	}
	return "", errors.New("it takes one value")
}

// tryValue reads a value as the flag would, into nothing.
func tryValue(flag *kong.Flag, text string) error {
	set := flag.Set
	defer func() { flag.Set = set }()
	into := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	if flag.Enum != "" && !flag.EnumMap()[text] {
		return fmt.Errorf("it must be one of %s, not %q", strings.Join(flag.EnumSlice(), ", "), text)
	}
	return nil
}

// keyForm is the form of keys.
var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)
