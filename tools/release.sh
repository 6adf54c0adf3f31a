#!/bin/sh
# Makes what is published of a version, for each platform: an archive with the program and its
# manifests, the list of what it is made of (SBOM, CycloneDX) and the image; and their checksums.
#
#   tools/release.sh IMAGE VERSION COMMIT FOLDER
#
# ARCHS are the processors. The same commit gives the same files (docker's images excepted): all
# times are SOURCE_DATE_EPOCH, the names are sorted, and nothing says who packed them or where.
set -eu
image=$1 version=$2 commit=$3
cd "$(dirname "$0")/.."
mkdir -p "$4"
folder=$(cd "$4" && pwd)
rm -f "$folder"/*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for arch in $ARCHS; do
  name=controller-manager-$version-linux-$arch
  echo "$name"
  mkdir "$work/$name"
  GOOS=linux GOARCH=$arch make --no-print-directory build BINARY="$work/$name/controller-manager"
  bin/cyclonedx-gomod bin -json -noserial -notimestamp -std -version "$version" \
    -output "$folder/$name.cdx.json" "$work/$name/controller-manager"
  cp -R README.md CHANGELOG.md deploy "$work/$name"
  [ ! -f LICENSE ] || cp LICENSE "$work/$name"
  tar --create --directory "$work" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$name" | gzip -9n > "$folder/$name.tar.gz"
  tools/image.sh "$image" "linux/$arch" "$version" "$commit" "$folder/$name-image.tar"
done
cd "$folder"
sha256sum -- * > "$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
cat SHA256SUMS
