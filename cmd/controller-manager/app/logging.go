package app

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"

	"k8s.io/klog/v2"
)

// The logging formats.
const (
	formatText = "text"
	formatJSON = "json"
)

// setUpLogging makes klog, which is the log of the whole process, write as the options say.
func setUpLogging(options *Options, stderr io.Writer) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"v": strconv.Itoa(options.Verbosity), "vmodule": options.VModule} {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	if options.LoggingFormat == formatJSON {
		klog.SetSlogLogger(slog.New(jsonHandler(options.Verbosity, stderr)))
	}
	return nil
}

// jsonHandler writes one object a line, with the keys that the JSON logs of Kubernetes
// have: "ts" (seconds since 1970), "caller" (folder/file.go:line), "v" (verbosity; not for
// errors), "msg", "err". Errors have a "level" beside them.
func jsonHandler(verbosity int, w io.Writer) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{
		AddSource: true,
		Level:     slog.Level(-verbosity), // as logr maps verbosity to levels
		ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return attr
			}
			switch value := attr.Value.Any().(type) {
			case *slog.Source:
				folder, file := filepath.Split(value.File)
				return slog.String("caller", fmt.Sprintf("%s/%s:%d", filepath.Base(folder), file, value.Line))
			case slog.Level:
				if value > slog.LevelInfo {
					return slog.String("level", "error")
				}
				return slog.Int("v", -int(value))
			default:
				if attr.Key == slog.TimeKey && attr.Value.Kind() == slog.KindTime {
					return slog.Float64("ts", float64(attr.Value.Time().UnixMicro())/1e6)
				}
				return attr
			}
		},
	})
}
