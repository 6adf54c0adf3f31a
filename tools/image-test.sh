#!/bin/sh
# Proves the image and the release, without a registry:
#
#   tools/image-test.sh IMAGE VERSION COMMIT
#
# The two bases of the Dockerfile are made on the spot (stand-ins.sh). It does so for the processors
# in ARCHS, and needs root.
set -eu
image=$1 version=$2 commit=$3
cd "$(dirname "$0")/.."
failures=0

# check SENTENCE GOT WANT
check() {
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    echo "FAILED: $1: it is \"$2\", and has to be \"$3\""
    failures=$((failures + 1))
  fi
}

digest() {
  sha256sum "$1" | cut -d ' ' -f 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM # or a signal would leave it

. tools/stand-ins.sh
mkdir "$work/out"
chmod 0777 "$work/out"

echo "== the bases"
go_stand_in
export IMAGE_FLAGS="$stand_in_flags"
for turn in 1 2; do
  echo "== release $turn"
  for arch in $ARCHS; do
    base_stand_in "$arch"
    make --no-print-directory release ARCHS="$arch" RELEASE="$work/release$turn/$arch"
  done
done

echo "== what came of it"
for arch in $ARCHS; do
  name=controller-manager-$version-linux-$arch
  release=$work/release1/$arch
  check "two releases for $arch have the same three checksums" \
    "$(wc -l < "$release/SHA256SUMS") $(digest "$release/SHA256SUMS")" \
    "3 $(digest "$work/release2/$arch/SHA256SUMS")"
  tar --extract --gzip --directory "$work" --file "$release/$name.tar.gz"
  podman load --quiet --input "$release/$name-image.tar"
  check "the image for $arch is for that" "$(podman inspect --format '{{.Os}}/{{.Architecture}}' "$image")" "linux/$arch"
  check "its user is nobody's" "$(podman inspect --format '{{.Config.User}}' "$image")" 65532:65532
  check "it starts the program" "$(podman inspect --format '{{.Config.Entrypoint}} {{.Config.Cmd}}' "$image")" "[/controller-manager] []"
  container=$(buildah from --pull-never "$image")
  check "its program is that of the archive" \
    "$(digest "$(buildah mount "$container")/controller-manager")" "$(digest "$work/$name/controller-manager")"
  check "the list of contents has this version, and a module" \
    "$(grep -oE 'pkg:golang/(controller-manager|k8s.io/client-go)@[v.0-9]+' "$release/$name.cdx.json" | sort -u | xargs)" \
    "pkg:golang/controller-manager@$version pkg:golang/k8s.io/client-go@$(go list -m -f '{{.Version}}' k8s.io/client-go)"
  [ "$arch" = "$(go env GOARCH)" ] || { buildah rm "$container" >/dev/null; continue; }
  # Into a file: of what a short program prints, buildah sometimes loses the end.
  buildah copy --quiet "$container" /bin/busybox /busybox >/dev/null
  buildah run --volume "$work/out:/out" "$container" -- \
    /busybox sh -c '/controller-manager --version > /out/version; /busybox id -u > /out/user'
  check "it says its version" "$(cat "$work/out/version")" \
    "controller-manager $version (commit $commit, $(go env GOVERSION))"
  check "it runs as that user" "$(cat "$work/out/user")" 65532
  buildah rm "$container" >/dev/null
done
check "the manifests name this image" \
  "$(grep -rhoE --include='*.yaml' 'image: controller-manager.*' deploy | sort -u)" "image: ${image#docker.io/library/}"

[ $failures -eq 0 ] || { echo "$failures checks failed"; exit 1; }
