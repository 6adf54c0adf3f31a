package node

import (
	"fmt"
	"os"
	"path/filepath"
)

func readFile(path string) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // we have named it
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return string(text), nil
}

// place writes a file and the folders above it.
func place(text []byte, path string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making a folder for %s: %w", path, err)
	}
	if err := os.WriteFile(path, text, mode); err != nil { //nolint:gosec // we have named it
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
