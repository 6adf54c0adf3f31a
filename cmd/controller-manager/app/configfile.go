package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// readConfigFile sets flags from a YAML file whose keys are the names of flags. A flag
// that was given on the command line stays as it is.
func readConfigFile(path string, flags *flag.FlagSet, given func(name string) bool) error {
	content, err := readShort(path)
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

// longestConfig bounds the configuration file: all settings fit into a hundredth of it.
const longestConfig = 1 << 20

// readShort reads a file that must not be longer than a configuration can be.
func readShort(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, longestConfig+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > longestConfig:
		return nil, fmt.Errorf("%s is longer than 1 MiB, which no configuration is", path)
	case !utf8.Valid(content):
		return nil, fmt.Errorf("%s is no text in UTF-8", path)
	}
	return content, nil
}

// decodeSettings reads the one document of the file that is not empty.
func decodeSettings(content []byte) (map[string]any, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var settings map[string]any
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return settings, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		more, err := decodeDocument(document)
		switch {
		case err != nil:
			return nil, err
		case settings != nil && more != nil:
			return nil, errors.New("it has several documents, with a line --- between them; give one")
		case more != nil:
			settings = more
		}
	}
}

// decodeDocument reads one object. Numbers stay as they are written.
func decodeDocument(document []byte) (map[string]any, error) {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("reading YAML: %.500s", err.Error()) // it may have a line for each line of the file
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var settings map[string]any
	if err := decoder.Decode(&settings); err != nil { // it is a list, a text or a number
		return nil, errors.New(`it must hold settings by name, such as "secure-port: 10267"`)
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
