package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// readConfigFile sets flags from a YAML file whose keys are the names of flags. A flag
// that was given on the command line stays as it is.
func readConfigFile(path string, flags *flag.FlagSet, given func(name string) bool) error {
	content, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	settings, err := decodeSettings(content)
	if err != nil {
		return fmt.Errorf("--config %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		target := flags.Lookup(name)
		if target == nil || name == "config" || name == "version" {
			return fmt.Errorf("--config %s: there is no setting %q; settings are named like the flags, without dashes before them", path, name)
		}
		if given(name) {
			continue
		}
		value, err := settingText(settings[name])
		if err == nil {
			err = target.Value.Set(value)
		}
		if err != nil {
			return fmt.Errorf("--config %s: setting %q: %w", path, name, err)
		}
	}
	return nil
}

// decodeSettings reads the file's one object. Numbers stay as they are written.
func decodeSettings(content []byte) (map[string]any, error) {
	encoded, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var settings map[string]any
	if err := decoder.Decode(&settings); err != nil {
		return nil, fmt.Errorf("it must hold settings by name, such as \"secure-port: 10267\": %w", err)
	}
	return settings, nil
}

// settingText returns a setting the way it is written on the command line.
func settingText(value any) (string, error) {
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	var texts []string
	for _, item := range items {
		switch item.(type) {
		case string, bool, json.Number:
			texts = append(texts, fmt.Sprint(item))
		default:
			return "", errors.New("it must be a text, a number, true, false, or a list of them")
		}
	}
	return strings.Join(texts, ","), nil
}
