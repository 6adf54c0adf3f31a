#!/bin/sh
# Looks for known faults in what the program is made of. govulncheck knows most, if its database
# can be reached. If not, ask the module proxy whether an author has withdrawn a version that is
# used. The last line says which of the two was done. It ends with 1 if something was found, and
# with 3 if neither could be asked.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
bin/govulncheck ./... > "$log" 2>&1 || status=$?
if [ $status -eq 0 ]; then
  echo "vulncheck: govulncheck knows of no vulnerability in what is called"
  exit
elif ! grep -q 'fetching vulnerabilities' "$log"; then
  cat "$log"
  exit 1
fi

# The second command says nothing of a proxy that it cannot reach; the first one does.
go list -m k8s.io/client-go@latest > /dev/null &&
  go list -m -u -f '{{with .Retracted}}{{$.Path}} {{$.Version}} is withdrawn: {{join . "; "}}{{end}}' all > "$log" || {
  echo "vulncheck: neither govulncheck's database nor the module proxy can be reached: nothing is checked" >&2
  exit 3
}
if [ -s "$log" ]; then
  cat "$log"
  echo "vulncheck: take other versions of these modules" >&2
  exit 1
fi
echo "vulncheck: govulncheck's database cannot be reached; of $(go list -m all | wc -l) modules no version is withdrawn by its author"
